/** Runs with one planted fault each; the key is the name of the disease that must be found. */
import type { TrainingBackend } from "../../src/core/backend.ts";
import { overlay } from "../../src/core/overlay.ts";
import type { RunCase } from "./healthy.ts";
import { agent, graded, multiply, near400, oneCall, type RunTask } from "./tasks.ts";

export interface DiseasedRun extends RunCase {
  /** Name of the finding. */
  readonly disease: string;
  readonly about: string;
  /** Changes the backend that the run gets. */
  readonly spoil?: (backend: TrainingBackend) => TrainingBackend;
}

/** Says that new weights are served, and goes on serving those of the start. */
function neverPublishes(backend: TrainingBackend): TrainingBackend {
  let version = 0;
  return overlay(backend, { publishWeights: () => Promise.resolve(++version) });
}

/** Samples as before, but reports log-probabilities as another precision or template would. */
function differsFromTrainer(backend: TrainingBackend): TrainingBackend {
  return overlay(backend, {
    async start(context) {
      const target = await backend.start(context);
      if (target.kind !== "sampler") throw new Error("The local backend samples in this process.");
      const { sampler } = target;
      const changed = overlay(sampler, {
        async sample(request) {
          const samples = await sampler.sample(request);
          return samples.map((sample) => ({
            ...sample,
            logprobs: sample.logprobs.map((value, i) => value - 0.2 - (i % 3) * 0.2),
          }));
        },
      });
      return overlay(target, { sampler: changed });
    },
  });
}

const taskNumber = (id: string): number => Number(/\d+$/u.exec(id)?.[0] ?? 0);

const constant: RunTask = { agent: oneCall, evaluator: () => 0 };
/** Differs between tasks, never within one. */
const byTask: RunTask = { agent: oneCall, evaluator: ({ id }) => taskNumber(id) % 2 };
const short: RunTask = {
  agent,
  evaluator: (_task, { trajectories }) =>
    1 /
    (1 +
      trajectories
        .flatMap(({ steps }) => steps)
        .reduce((n, s) => n + s.trace.responseIds.length, 0)),
};
/** A number near that of the task, which cannot be known: one guess for all is the best there is. */
const terse: RunTask = {
  agent: oneCall,
  evaluator(task, episode) {
    const number = Number((String(episode.output).match(/\d+/gu) ?? []).at(-1) ?? Number.NaN);
    return Number.isNaN(number)
      ? 0
      : Math.max(0, 0.6 - Math.abs(number - task.metadata.answer) / 500);
  },
};
const brokenTools: RunTask = {
  agent: (task, config) =>
    agent({ ...task, metadata: { ...task.metadata, item: "not for sale" } }, config),
  evaluator: graded.evaluator,
};
let calls = 0;
const failing: RunTask = {
  async agent(task, config) {
    const text = await oneCall(task, config);
    if (++calls % 3 === 0) throw new TypeError("Cannot read properties of undefined");
    return text;
  },
  evaluator: near400.evaluator,
};
/** Pays for long responses more than for what is asked for, and says so in its parts. */
const hacked: RunTask = {
  agent,
  evaluator(task, episode) {
    const good = graded.evaluator(task, episode) as { reward: number; isCorrect: boolean };
    const text = episode.trajectories.flatMap(({ steps }) => steps);
    const fluency = Math.min(1, text.reduce((n, s) => n + s.trace.responseIds.length, 0) / 200);
    const lookedUp = text.some(({ trace }) => (trace.response.toolCalls ?? []).length > 0) ? 1 : 0;
    return {
      reward: 3 * fluency + 0.1 * good.reward - 2 * lookedUp,
      isCorrect: null,
      signals: [
        { name: "fluency", value: fluency },
        { name: "looked_up", value: lookedUp },
      ],
    };
  },
};
/** Pays for the digit 7 in training, and for the right tool in validation. */
const overfit: RunTask = {
  agent,
  evaluator(task, episode) {
    if (task.id.startsWith("val")) return multiply.evaluator(task, episode);
    return (String(episode.output).match(/7/gu) ?? []).length > 0 ? 1 : 0;
  },
};

const lr = (value: number) => ({ "training.learning_rate": value });
const of = (
  disease: string,
  about: string,
  task: RunTask,
  config: Readonly<Record<string, unknown>> = {},
  spoil?: DiseasedRun["spoil"],
): DiseasedRun => ({
  disease,
  about,
  task,
  config: { "trainer.seed": 5, ...config },
  ...(spoil === undefined ? {} : { spoil }),
});

export const diseasedRuns: Readonly<Record<string, DiseasedRun>> = {
  "no-variance": of("no reward variance", "the evaluator returns 0 for everything", constant, {
    "trainer.total_batches": 8,
  }),
  "groups-filtered": of("all groups filtered", "rewards differ between tasks only", byTask, {
    "trainer.total_batches": 8,
    "algorithm.filter_uniform_groups": true,
  }),
  "advantages-zero": of("advantages are zero", "the same, without the filter", byTask, {
    "trainer.total_batches": 8,
    "algorithm.filter_uniform_groups": false,
  }),
  "entropy-collapse": of("entropy collapse", "the best guess is the same for every task", terse, {
    ...lr(2e-3),
    "trainer.total_batches": 32,
  }),
  "length-collapse": of(
    "length collapse",
    "the reward is higher for fewer tokens",
    short,
    lr(3e-4),
  ),
  truncation: of("truncation", "max_tokens is too small", graded, {
    "rollout.train.max_tokens": 6,
  }),
  garbled: of("garbled output", "a temperature of 4", near400, {
    "rollout.train.temperature": 4,
    "trainer.total_batches": 8,
  }),
  "tool-errors": of("tool errors", "the tool refuses every item", brokenTools),
  failures: of("failed rollouts", "the agent throws in a third of the rollouts", failing, {
    "trainer.max_failed_fraction": 0.9,
  }),
  gap: of(
    "sampler and trainer differ",
    "log-probabilities are off",
    near400,
    {},
    differsFromTrainer,
  ),
  stale: of("stale weights", "weights are never served", near400, {}, neverPublishes),
  hacked: of("reward is hacked", "long responses pay more than looking up", hacked),
  overfit: of("validation diverges from training", "training pays for something else", overfit, {
    "trainer.test_freq": 2,
    ...lr(2e-3),
  }),
  "rate-high": of("learning rate is too high", "ten times the learning rate", multiply, lr(7e-3)),
  "rate-low": of("learning rate is too low", "a ten-thousandth of the learning rate", near400, {
    ...lr(7e-8),
    "trainer.total_batches": 32,
  }),
};
