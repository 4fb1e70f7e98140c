/** Episodes made by hand, for tests of what is made of them. */
import type { TrainConfig } from "../../../src/config/train-config.ts";
import type { TrainingBackend } from "../../../src/core/backend.ts";
import type { Renderer } from "../../../src/core/policy.ts";
import type { Episode, Step, Trajectory } from "../../../src/core/trajectory.ts";
import type { RolloutContext } from "../../../src/trainer/run-context.ts";
import type { Hint } from "../../../src/trainer/update/self-teacher.ts";
import { createLearner, type StepRows } from "../../../src/trainer/update/learn.ts";
import { defined } from "../../../src/util/defined.ts";
import { makeStep } from "../../make-step.ts";

export interface StepShape {
  readonly prompt?: readonly number[];
  readonly response?: readonly number[];
  readonly reward?: number;
  readonly advantage?: number | readonly number[];
  readonly stopReason?: Step["trace"]["stopReason"];
}

export interface EpisodeShape {
  readonly task?: string;
  readonly role?: string;
  readonly reward?: number | null;
  readonly reason?: Episode["terminationReason"];
  readonly signals?: Trajectory["signals"];
  readonly steps?: readonly StepShape[];
  /** In place of `steps`. */
  readonly made?: readonly Step[];
}

/** Advantages that are not divided by a standard deviation, where no estimator is named. */
export const withoutStd = (overrides: readonly string[]): readonly string[] =>
  overrides.some((each) => each.startsWith("algorithm.estimator="))
    ? []
    : ["algorithm.estimator.norm_by_std=false"];

let made = 0;

function step(shape: StepShape, index: number): Step {
  const { prompt = [index + 1], response = [7, 8], reward, advantage, stopReason = "stop" } = shape;
  return makeStep(
    {
      id: `t${++made}`,
      promptIds: Int32Array.from(prompt),
      responseIds: Int32Array.from(response),
      logprobs: new Float32Array(response.length).fill(-0.5),
      stopReason,
    },
    defined({ reward, advantage }),
  );
}

/** One episode with one trajectory; by default one call and the reward 1. */
export function episode(shape: EpisodeShape = {}, rolloutIndex = 0): Episode {
  const { task = "a", role = "agent", reward = 1, reason = "completed", steps = [{}] } = shape;
  const { signals = {}, made: given } = shape;
  const trajectory: Trajectory = {
    uid: `u${++made}`,
    name: role,
    steps: given ?? steps.map(step),
    reward,
    signals,
    metadata: {},
  };
  return {
    id: `1/${task}/${rolloutIndex}/${made}`,
    task: { id: task, instruction: "", metadata: {} },
    rolloutIndex,
    trajectories: [trajectory],
    output: undefined,
    isCorrect: null,
    reward,
    terminationReason: reason,
    metrics: {},
    metadata: {},
    attempts: 1,
  };
}

/** What the first step of a run trains on, if these are all of its rollouts. */
export async function rowsOf(
  config: TrainConfig,
  backend: TrainingBackend,
  episodes: readonly Episode[],
  renderer?: Renderer,
  hint?: Hint,
): Promise<StepRows> {
  const { signal } = new AbortController();
  const ignore = (): void => {};
  const parts = { estimators: new Map(), renderer, hint, emit: ignore, warnOnce: ignore };
  const run = { config, backend, signal, ...parts };
  const learn = createLearner(run as unknown as RolloutContext);
  const tasks = [...new Set(episodes.map(({ task }) => task.id))];
  const rollouts = tasks.map((key) => ({
    key,
    since: 1,
    episodes: episodes.filter(({ task }) => task.id === key),
  }));
  return await learn.rows(1, await learn.score(1, rollouts));
}
