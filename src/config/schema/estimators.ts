/** Advantage estimators, each with its options. */
import { z } from "zod";
import type { EstimatorName } from "../../algorithms/catalog.ts";
import { weightMap } from "../role-map.ts";
import { fraction, integer } from "./kinds.ts";
import { customFunction } from "./option-meta.ts";

type Norm = Readonly<{ norm_by_std: z.ZodDefault<z.ZodBoolean> }>;

const norm: Norm = {
  norm_by_std: z
    .boolean()
    .default(true)
    .describe(
      "Divide GRPO advantages by the standard deviation of the group's rewards; false is Dr. GRPO, which recommends not to (arXiv:2503.20783).",
    ),
};

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- these have no options
type None = Readonly<Record<never, z.ZodType>>;

type Estimators = Readonly<{
  grpo: Norm;
  reinforce: None;
  rloo: None;
  reinforce_plus_plus: None;
  reinforce_plus_plus_baseline: None;
  prpo: None;
  opo: None;
  gpg: None;
  maxrl: None;
  grpo_passk: Norm;
  gdpo: Readonly<{ weights: ReturnType<typeof weightMap> }>;
  [customFunction]: Norm;
}>;

/** Those that a single role may have. */
export const estimators: Estimators = {
  grpo: norm,
  reinforce: {},
  rloo: {},
  reinforce_plus_plus: {},
  reinforce_plus_plus_baseline: {},
  prpo: {},
  opo: {},
  gpg: {},
  maxrl: {},
  grpo_passk: norm,
  gdpo: {
    weights: weightMap({ what: "signals", example: "correct=1" }).describe(
      "Weights of an evaluator's signals, each normalized within its group before their weighted sum (GDPO, arXiv:2601.05242), as in {correct: 1, short: 0.5}; the name reward is the reward itself. Empty is every signal with the weight 1, or the reward where there are none.",
    ),
  },
  [customFunction]: norm,
} satisfies Record<EstimatorName | typeof customFunction, unknown>;

/** Generalized advantage estimation, whose critic the whole run shares. */
export const gae: {
  readonly gamma: z.ZodDefault<z.ZodNumber>;
  readonly lambda: z.ZodDefault<z.ZodNumber>;
  readonly whiten: z.ZodDefault<z.ZodBoolean>;
  readonly critic_warmup: z.ZodDefault<z.ZodInt>;
  readonly value_learning_rate: z.ZodDefault<z.ZodNullable<z.ZodNumber>>;
  readonly value_epochs: z.ZodDefault<z.ZodNullable<z.ZodInt>>;
  readonly value_clip: z.ZodDefault<z.ZodNullable<z.ZodNumber>>;
} = {
  gamma: fraction()
    .default(1)
    .describe(
      "Discount γ of GAE, per sampled token (arXiv:1506.02438): 1 is no discount, as in verl; 0.99 forgets a reward within some hundred tokens.",
    ),
  lambda: fraction()
    .default(1)
    .describe(
      "λ of GAE: 1 compares the whole return with the critic's value, 0 trusts the value of the next token alone (arXiv:1506.02438). verl's default is 1; VAPO recommends 1 for the critic and less for long responses (arXiv:2504.05118).",
    ),
  whiten: z
    .boolean()
    .default(true)
    .describe(
      "Scale GAE's advantages to mean 0 and variance 1 over all sampled tokens of a role, as verl does; false leaves them as they are.",
    ),
  critic_warmup: integer(0)
    .default(0)
    .describe(
      "Steps at the beginning of a run in which only the critic of GAE learns and the policy stays as it is, as verl's trainer.critic_warmup.",
    ),
  value_learning_rate: z
    .number()
    .gt(0)
    .nullable()
    .default(null)
    .describe(
      "Learning rate of the critic; it has no schedule. Its AdamW is otherwise that of the policy, without weight decay. null is 0.002 on local, whose critic is a gated layer on the hidden states of the policy, and 1e-5 on verl, whose critic is a whole model.",
    ),
  value_epochs: integer(1, 1000)
    .nullable()
    .default(null)
    .describe(
      "Optimizer steps of the critic in each update, all on the rows of the update. null is 16 on local, where they are cheap since the policy's hidden states are computed once, and 1 on verl, where each goes through the whole critic.",
    ),
  value_clip: z
    .number()
    .gt(0)
    .nullable()
    .default(0.5)
    .describe(
      "Values are clipped to this distance from those of before the update, as in PPO (arXiv:1707.06347); 0.5 is verl's cliprange_value. null is off.",
    ),
};
