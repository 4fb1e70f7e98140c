/** Runs that learn, with different tasks, seeds and options. */
import { even, graded, multiply, near400, shop, type RunTask } from "./tasks.ts";

export interface RunCase {
  readonly task: RunTask;
  readonly config: Readonly<Record<string, unknown>>;
}

const lr = (value: number) => ({ "training.learning_rate": value });
const async = {
  "async_training.enable": true,
  "async_training.staleness_threshold": 1,
};
const twoUpdates = { "algorithm.loss": "ppo", "training.num_minibatches": 2 };
const lora = { "model.lora_rank": 16, "training.learning_rate": 5e-3 };
const validated = { "trainer.test_freq": 4 };

const of = (
  task: RunTask,
  seed: number,
  config: Readonly<Record<string, unknown>> = {},
): RunCase => ({
  task,
  config: {
    "trainer.seed": seed,
    // Several calls per rollout take longer.
    ...(task === shop || task === graded ? { "trainer.total_batches": 16 } : {}),
    ...config,
  },
});

export const healthyRuns: Readonly<Record<string, RunCase>> = {
  // At 7e-4 these end in one guess for all tasks, which is a collapse of entropy and rightly named.
  "near400-1": of(near400, 1, { ...lr(2e-4), ...validated }),
  "near400-2-slow": of(near400, 2, lr(1e-4)),
  "near400-3-async": of(near400, 3, { ...lr(2e-4), ...async }),
  "near400-4-reinforce": of(near400, 4, {
    ...lr(2e-4),
    "algorithm.estimator": "reinforce_plus_plus",
  }),
  "even-1": of(even, 1),
  "even-2-small": of(even, 2, { "data.train_batch_size": 4 }),
  "even-3-entropy": of(even, 3, { "algorithm.entropy_coef": 0.001, ...validated }),
  "multiply-1": of(multiply, 1),
  "multiply-2-linear": of(multiply, 2, { "training.lr_schedule": "linear" }),
  "multiply-3-long": of(multiply, 3, { "trainer.total_batches": 40 }),
  "multiply-4-ppo": of(multiply, 4, twoUpdates),
  "shop-1": of(shop, 1, validated),
  "shop-2": of(shop, 2),
  "shop-3-async": of(shop, 3, async),
  "shop-4-lora": of(shop, 4, lora),
  "graded-1": of(graded, 1, validated),
  "graded-2": of(graded, 2, { "algorithm.estimator": "rloo" }),
  "graded-3-async": of(graded, 3, async),
  "graded-4-entropy": of(graded, 4, { "algorithm.entropy_coef": 0.001 }),
  "graded-5-kl": of(graded, 5, { "algorithm.kl_beta": 0.01 }),
};
