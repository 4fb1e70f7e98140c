/**
 * The YAML tree: every key with its default, its bounds and one sentence. Keys are those of rLLM
 * without the `rllm.` prefix. Docs, `--help` and error messages are made from this schema.
 */
import { z } from "zod";
import { estimatorNames } from "../../algorithms/catalog.ts";
import {
  defaultLoss,
  defaultOptim,
  klEstimators,
  lossAggregations,
  lossNames,
} from "../../core/loss.ts";
import { defaultSampling } from "../../core/policy.ts";
import { scheduleNames } from "../schedule.ts";
import { camelKeys, type CamelKeys, isTree, type Tree } from "./camel-keys.ts";
import { estimatorMap } from "./estimator-map.ts";
import type { TrainConfig } from "./train-config.ts";

const count = (least: number): z.ZodInt => z.int().min(least);
const share = (): z.ZodNumber => z.number().min(0).max(1);
const words = (): z.ZodString => z.string().min(1);
const countOrAll = () =>
  z
    .int()
    .refine((value) => value === -1 || value >= 1)
    .meta({ allowed: "-1, or a whole number of at least 1" });

const sampling = () =>
  z
    .strictObject({
      temperature: z
        .number()
        .min(0)
        .max(10)
        .default(defaultSampling.temperature)
        .describe("Sampling temperature; 0 is greedy."),
      top_p: z
        .number()
        .gt(0)
        .max(1)
        .default(defaultSampling.topP)
        .describe("Nucleus mass; 1 is off."),
      top_k: count(0)
        .default(defaultSampling.topK)
        .describe("Keep the k likeliest tokens; 0 is off."),
      min_p: share()
        .default(defaultSampling.minP)
        .describe("Keep tokens at least this likely relative to the likeliest; 0 is off."),
      max_tokens: count(1)
        .default(defaultSampling.maxTokens)
        .describe("Most tokens that one model call may draw."),
    })
    .prefault({});

/** `{a: {b: 1}}` → `["a.b=1"]`, as Hydra takes it. Keys are not ours, so their case must stay. */
function hydraOverrides(tree: Tree, path = ""): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const name = path === "" ? key : `${path}.${key}`;
    if (isTree(value)) return hydraOverrides(value, name);
    return [`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`];
  });
}

const verlConfig = () =>
  z
    .union([
      z.array(words()),
      z.record(z.string(), z.unknown()).transform((tree) => hydraOverrides(tree)),
    ])
    .prefault([])
    .meta({ allowed: "a tree of verl's options, or a list of key=value" })
    .describe("Options of verl's own, as verl.config.actor_rollout_ref... or in Hydra's form.");

const schema = z.strictObject({
  model: z
    .strictObject({
      name: words().describe("The policy: a folder, or a name that the backend knows."),
      lora_rank: count(0).default(0).describe("Rank of the LoRA adapters; 0 trains every weight."),
      lora_alpha: z
        .number()
        .gt(0)
        .default(32)
        .describe("LoRA updates are scaled by lora_alpha / lora_rank."),
    })
    .prefault({} as { name: string }),
  data: z
    .strictObject({
      train_batch_size: count(1).default(16).describe("Tasks per optimizer step."),
      val_batch_size: countOrAll()
        .default(-1)
        .describe("Validation tasks that run at a time; -1 is all of them."),
      seed: count(0)
        .nullable()
        .default(null)
        .describe("Seed of the order of tasks; null uses trainer.seed."),
    })
    .prefault({}),
  rollout: z
    .strictObject({
      n: count(1)
        .default(8)
        .describe("Rollouts of each task in a step; they are compared with each other."),
      n_val: count(1).default(1).describe("Rollouts of each task in a validation."),
      untrained_roles: z
        .array(words())
        .default([])
        .meta({ allowed: "a list of trajectory names" })
        .describe("Roles that are sampled and scored, but not trained."),
      train: sampling(),
      val: sampling(),
    })
    .prefault({}),
  algorithm: z
    .strictObject({
      adv_estimator: z
        .enum(estimatorNames)
        .default("grpo")
        .describe("How rewards of a group become advantages."),
      norm_adv_by_std_in_grpo: z
        .boolean()
        .default(true)
        .describe("GRPO divides by the group's standard deviation; false is Dr. GRPO."),
      estimator_map: estimatorMap(),
      loss_fn: z.enum(lossNames).default(defaultLoss.name).describe("The policy loss."),
      loss_agg_mode: z
        .enum(lossAggregations)
        .default(defaultLoss.aggregation)
        .describe("How token losses become one number."),
      eps_clip: share()
        .default(defaultLoss.clipLow)
        .describe("PPO clips probability ratios below 1 - eps_clip."),
      eps_clip_high: z
        .number()
        .min(0)
        .max(10)
        .nullable()
        .default(null)
        .describe("PPO clips ratios above 1 + eps_clip_high; null uses eps_clip."),
      clip_ratio_c: z
        .number()
        .gt(1)
        .nullable()
        .default(null)
        .describe(
          "Dual clip: a token with a negative advantage A loses at most clip_ratio_c times its size; null is off. For ppo.",
        ),
      kl_beta: z
        .number()
        .min(0)
        .default(0)
        .describe("Weight of the KL penalty against the model as it was loaded; 0 is off."),
      kl_estimator: z
        .enum(klEstimators)
        .default("k3")
        .describe("How the KL penalty is estimated from sampled tokens."),
      entropy_coef: z
        .number()
        .min(0)
        .default(0)
        .describe("Weight of the bonus for the policy's entropy; 0 is off."),
      filter_uniform_groups: z
        .boolean()
        .nullable()
        .default(null)
        .describe(
          "Leave out groups whose rewards are all equal; null does so where the estimator compares within groups, as those of reinforce, reinforce_plus_plus and prpo do not.",
        ),
    })
    .prefault({}),
  training: z
    .strictObject({
      learning_rate: share()
        .default(defaultOptim.learningRate)
        .describe("Base learning rate; 0 freezes the weights."),
      lr_schedule: z
        .enum(scheduleNames)
        .default("constant")
        .describe("Shape of the learning rate after warm-up."),
      warmup_steps: count(0)
        .default(0)
        .describe("Steps over which the learning rate rises to its base value."),
      beta1: z.number().min(0).lt(1).default(defaultOptim.beta1).describe("AdamW, first moment."),
      beta2: z.number().min(0).lt(1).default(defaultOptim.beta2).describe("AdamW, second moment."),
      eps: z.number().gt(0).max(1).default(defaultOptim.eps).describe("AdamW, denominator."),
      weight_decay: z
        .number()
        .min(0)
        .default(defaultOptim.weightDecay)
        .describe("AdamW, decoupled decay."),
      max_grad_norm: z
        .number()
        .min(0)
        .default(defaultOptim.maxGradNorm)
        .describe("Gradients are scaled down to this global norm; 0 is never."),
    })
    .prefault({}),
  trainer: z
    .strictObject({
      total_epochs: count(1).default(1).describe("Passes over the training tasks."),
      total_batches: countOrAll()
        .default(-1)
        .describe("Optimizer steps; -1 lets total_epochs decide."),
      test_freq: count(0)
        .default(0)
        .describe("Validate every so many steps; 0 only before and after."),
      val_before_train: z.boolean().default(true).describe("Validate before the first step."),
      save_freq: count(0)
        .default(10)
        .describe("Save a checkpoint every so many steps; 0 only at the end."),
      seed: count(0)
        .max(2 ** 32 - 1)
        .default(0)
        .describe("Seed of everything random in the run."),
      project_name: words().default("agent-trainer").describe("A label, kept with the run."),
      experiment_name: words()
        .regex(/^[^/\\]*[^/\\.][^/\\]*$/u)
        .nullable()
        .default(null)
        .meta({ allowed: "a folder name, or null" })
        .describe("Name of the run folder; null makes one from the date."),
      output_dir: words().default("runs").describe("Folder that holds the run folders."),
      max_failed_share: share()
        .default(0.5)
        .describe("The run stops when more than this share of a step's rollouts failed."),
      keep_checkpoints: count(1).default(3).describe("Checkpoints kept; older ones are deleted."),
    })
    .prefault({}),
  workflow: z
    .strictObject({
      n_parallel_tasks: count(1).default(64).describe("Rollouts that run at the same time."),
      retry_limit: count(0).default(2).describe("Further attempts after a rollout failed."),
      timeout_s: z.number().gt(0).max(604_800).default(600).describe("Seconds for one attempt."),
      setup_timeout_s: z
        .number()
        .gt(0)
        .max(604_800)
        .default(300)
        .describe("Seconds for the set-up hook of one attempt."),
      call_timeout_s: z
        .number()
        .gt(0)
        .max(604_800)
        .default(600)
        .describe("Seconds for one model call; at most timeout_s counts."),
      evaluator_timeout_s: z
        .number()
        .gt(0)
        .max(604_800)
        .default(60)
        .describe("Seconds for one evaluation."),
      teardown_timeout_s: z
        .number()
        .gt(0)
        .max(604_800)
        .default(60)
        .describe("Seconds for clearing away what a set-up hook made."),
    })
    .prefault({}),
  backend: words()
    .default("local")
    .describe(
      "What holds the weights: local, tinker, verl, or path#export of a function that makes a backend. Command line only.",
    ),
  local: z
    .strictObject({
      threads: count(1)
        .nullable()
        .default(null)
        .describe("Threads inside one operation; null is half of the processors, at least 2."),
      training_memory_mib: count(64)
        .default(1536)
        .describe("MiB for the activations of one training micro-batch; less is slower."),
      sampling_precision: z
        .enum(["float32", "int8"])
        .default("float32")
        .describe(
          "Frozen weights while sampling; int8 needs LoRA and draws from a slightly different distribution, which the loss corrects.",
        ),
    })
    .prefault({})
    .describe("Options of the backend that the command line makes for backend: local."),
  tinker_base_url: words()
    .nullable()
    .default(null)
    .describe("The Tinker server; null is TINKER_BASE_URL, or the hosted service."),
  tinker: z
    .strictObject({
      tokenizer: words()
        .nullable()
        .default(null)
        .describe(
          "Folder with the model's tokenizer; null is model.name, or where the server says.",
        ),
      context_length: count(2)
        .nullable()
        .default(null)
        .describe("Longest prompt and completion in tokens; null asks the server."),
      checkpoint_ttl_s: count(1)
        .nullable()
        .default(null)
        .describe("Seconds after which the server may delete a checkpoint; null is never."),
    })
    .prefault({})
    .describe("Options of the backend that the command line makes for backend: tinker."),
  verl: z
    .strictObject({
      python: words()
        .nullable()
        .default(null)
        .describe("Python with verl; null is what `agent-trainer verl setup` made, else python3."),
      launcher: z
        .enum(["process", "job", "attach"])
        .default("process")
        .describe("The bridge as a child process, as a Ray job, or one that runs already."),
      engine: z
        .enum(["verl", "fake"])
        .default("verl")
        .describe("What trains; fake is a toy policy without packages, to try a set-up."),
      url: words()
        .nullable()
        .default(null)
        .describe(
          "The bridge to attach to, whose token is in AGENT_TRAINER_BRIDGE_TOKEN, or Ray's dashboard for a job; null is http://127.0.0.1:8265.",
        ),
      ray_address: words()
        .nullable()
        .default(null)
        .describe("Ray's head as HOST:6379; null is RAY_ADDRESS, else a Ray of its own."),
      gpus_per_node: count(1).default(8).describe("GPUs of each machine."),
      nodes: count(1).default(1).describe("Machines."),
      inference: words()
        .default("vllm")
        .describe("What samples: vllm, sglang, or another that verl knows."),
      tensor_parallel: count(1)
        .default(1)
        .describe("GPUs that share one copy of the model while sampling."),
      setup_hook: words()
        .nullable()
        .default(null)
        .describe("A module.function that every process calls before it uses verl."),
      start_timeout_s: z
        .number()
        .gt(0)
        .max(86_400)
        .default(1800)
        .describe("Seconds until models are loaded and servers are up."),
      timeout_s: z
        .number()
        .gt(0)
        .max(86_400)
        .default(3600)
        .describe("Seconds for an update, an exchange of weights, or a checkpoint."),
      config: verlConfig(),
    })
    .prefault({})
    .describe("Options of the backend that the command line makes for backend: verl."),
  agent: words()
    .nullable()
    .default(null)
    .describe("Module of the agent, path#export. Command line only."),
  evaluator: words()
    .nullable()
    .default(null)
    .describe("Module of the evaluator, path#export. Command line only."),
  dataset: z
    .strictObject({
      train: words()
        .nullable()
        .default(null)
        .describe("Training tasks: .jsonl, .json or path#export. Command line only."),
      val: words()
        .nullable()
        .default(null)
        .describe("Validation tasks, in the same forms. Command line only."),
    })
    .prefault({}),
});

/** What the schema library reports, as far as it is read here. */
export interface SchemaIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
}

/** A tree checked against the schema, defaults filled in. */
export type Checked =
  | { readonly config: TrainConfig; readonly issues: null }
  | { readonly config: null; readonly issues: readonly SchemaIssue[] };

/** Checks a tree in snake_case. */
export function checkTree(tree: Tree): Checked {
  const result = schema.safeParse(tree);
  if (!result.success) return { config: null, issues: result.error.issues };
  const config: CamelKeys<z.output<typeof schema>> = camelKeys(result.data);
  return { config, issues: null };
}

/** The schema as JSON Schema, for docs and editors. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(schema, { io: "input" });
}
