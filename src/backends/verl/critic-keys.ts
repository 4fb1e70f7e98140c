/** Options that agent-trainer and verl's critic both have, where a run has a critic; and what it takes of them. Pure. */
import { never, type SharedKey } from "./shared-key.ts";

/** As verl's `critic.optim`; the rate, the clip and the epochs come with each update. */
export const criticKeys: readonly SharedKey[] = [
  {
    ours: "training.beta1, training.beta2",
    theirs: "critic.optim.betas",
    value: ({ optim }) => `[${optim.beta1},${optim.beta2}]`,
  },
  {
    ours: "training.eps",
    theirs: "critic.optim.override_optimizer_config",
    value: ({ optim }) => `{eps:${optim.eps}}`,
  },
  {
    ours: "training.max_grad_norm",
    theirs: "critic.optim.clip_grad",
    value: ({ optim }) => (optim.maxGradNorm === 0 ? never : optim.maxGradNorm),
  },
  {
    ours: "training.max_grad_norm",
    theirs: "critic.grad_clip",
    value: ({ optim }) => (optim.maxGradNorm === 0 ? never : optim.maxGradNorm),
  },
];

/** Weight decay would pull values to 0, which is what a critic begins with. */
export const criticDefaults: readonly string[] = ["critic.optim.weight_decay=0"];

type Replaced = readonly (readonly [pattern: RegExp, instead: string])[];

/** Keys of verl's critic that have no effect here, and what has it. */
export const replacedOfCritic = (hasCritic: boolean): Replaced =>
  hasCritic
    ? [
        [/^critic\.optim\.lr$/u, "algorithm.estimator.value_learning_rate"],
        [/^critic\.ppo_epochs$/u, "algorithm.estimator.value_epochs"],
        [/^critic\.cliprange_value$/u, "algorithm.estimator.value_clip"],
        [
          /^critic\.(?:enable|rollout_n|ppo_mini_batch_size|shuffle|data_loader_seed|loss_)/u,
          "the options under algorithm and training",
        ],
      ]
    : [[/^critic\b/u, "algorithm.estimator=gae, which starts a critic"]];
