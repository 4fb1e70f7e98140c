/** The demo's summary, collected from a run's events. */
import type { TrainerEvent } from "../../core/events.ts";
import type { Episode } from "../../core/trajectory.ts";

/** The demo's result, as `--json` prints it. `null` if the run did not get that far. */
export interface DemoResult {
  /** Mean training reward of the first step. */
  readonly rewardFirst: number | null;
  readonly rewardLast: number | null;
  /** Mean reward of the validation before training. */
  readonly valFirst: number | null;
  readonly valLast: number | null;
  /** From the start of the process to the end of the first step that changed the weights. */
  readonly secondsToFirstUpdate: number | null;
  readonly seconds: number;
  readonly steps: number;
  readonly seed: number;
  readonly runDir: string;
}

/** Observes a run and keeps its first and last metrics. */
export interface DemoRecorder {
  onEvent(event: TrainerEvent): void;
  result(run: { steps: number; seed: number; runDir: string }): DemoResult;
  /** Episodes of the latest validation. */
  readonly episodes: readonly Episode[];
}

/** `seconds` is a clock that starts with the process. */
export function createDemoRecorder(seconds: () => number): DemoRecorder {
  const rewards: (number | null)[] = [];
  const validations: (number | null)[] = [];
  let secondsToFirstUpdate: number | null = null;
  let episodes: readonly Episode[] = [];
  return {
    get episodes() {
      return episodes;
    },
    onEvent(event) {
      if (event.type === "step-end") {
        if (event.metrics["train/skipped_steps"] === 0) secondsToFirstUpdate ??= seconds();
        rewards.push(event.metrics["reward/mean"] ?? null);
      } else if (event.type === "validation-end") {
        validations.push(event.metrics["val/reward/mean"] ?? null);
        episodes = event.episodes;
      }
    },
    result: (run) => ({
      rewardFirst: rewards[0] ?? null,
      rewardLast: rewards.at(-1) ?? null,
      valFirst: validations[0] ?? null,
      valLast: validations.at(-1) ?? null,
      secondsToFirstUpdate,
      seconds: seconds(),
      steps: run.steps,
      seed: run.seed,
      runDir: run.runDir,
    }),
  };
}
