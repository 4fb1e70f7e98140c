/** An evaluation as trackers see it: a run of no step, with one validation. */
import type { TrainConfig } from "../../config/train-config.ts";
import type { Tracker } from "../../core/tracker.ts";
import type { EvaluationSummary } from "../../runs/evaluations/summary.ts";
import { createTrackers } from "../../trackers/create-trackers.ts";
import { RunEvents } from "../../trainer/events.ts";

export interface EvaluationEvents {
  begin(isResumed: boolean): void;
  /** Takes at most two deadlines of `tracking.timeout_s`. */
  end(summary: EvaluationSummary, message: string | null): Promise<void>;
}

const untracked: EvaluationEvents = { begin: () => {}, end: async () => {} };

interface Followed {
  readonly config: TrainConfig;
  /** Trackers write into it. */
  readonly folder: string | null;
  /** Passed in code, in addition to those that the options name. */
  readonly trackers: readonly Tracker[];
  readonly warn: (message: string) => void;
}

/** What follows an evaluation; a folder is needed, as trackers keep files and the name of the run there. */
export function evaluationEvents({ config, folder, trackers, warn }: Followed): EvaluationEvents {
  const all = createTrackers(config, trackers);
  if (all.length === 0) return untracked;
  if (folder === null) {
    warn(
      `The evaluation has no folder, so it is not tracked by ${all.map(({ name }) => name).join(", ")}. Pass folder, too.`,
    );
    return untracked;
  }
  const events = new RunEvents({
    write: (event) => {
      if (event.type === "warning") warn(event.message);
    },
    listeners: [],
    trackers: all,
    trackerTimeoutMs: config.tracking.timeoutS * 1000,
    step: 0,
  });
  let hasBegun = false;
  return {
    begin(isResumed) {
      hasBegun = true;
      const { seed } = config.trainer;
      const resumedFrom = isResumed ? folder : null;
      events.emit(0, { type: "run-start", runDir: folder, seed, totalSteps: 0, resumedFrom });
    },
    async end({ status, metrics }, message) {
      if (!hasBegun) return;
      events.emit(0, { type: "validation-end", metrics, episodes: [] });
      await events.end({ status, message });
    },
  };
}
