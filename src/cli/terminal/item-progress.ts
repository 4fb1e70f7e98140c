/** Shows how far an evaluation is on stderr: a line rewritten in place, or one line per 10 %. */
import { isFailed } from "../../core/outcome.ts";
import type { EvaluationItem } from "../../runs/evaluations/evaluation-item.ts";
import type { EvaluationProgress } from "../../launch/evaluate/evaluation-options.ts";
import { bar, duration } from "./progress.ts";
import { createLiveLine, type ProgressOptions } from "./live-line.ts";

export interface ItemProgress {
  onResult(item: EvaluationItem, progress: EvaluationProgress): void;
  onWarning(message: string): void;
  /** Clears the live line. */
  clear(): void;
}

export function createItemProgress(options: ProgressOptions): ItemProgress {
  const { stream, isQuiet, now = Date.now } = options;
  const live = createLiveLine(options);
  const startedAt = now();
  let tenths = 0;
  let [seen, rewards, rewarded, failed] = [0, 0, 0, 0];
  return {
    clear: live.clear,
    onWarning: live.warn,
    onResult(item, { done, planned }) {
      const { reward } = item;
      seen++;
      if (isFailed(item)) failed++;
      if (reward !== null) {
        rewards += reward;
        rewarded++;
      }
      if (isQuiet) return;
      const left = ((now() - startedAt) / 1000 / seen) * (planned - done);
      const parts = [
        `${done}/${planned}`,
        ...(rewarded === 0 ? [] : [`reward ${(rewards / rewarded).toFixed(3)}`]),
        ...(failed === 0 ? [] : [`failed ${failed}`]),
        ...(done === planned ? [] : [`${duration(left)} left`]),
      ];
      if (live.isLive) {
        live.show(["eval", bar(done / planned, 20), ...parts]);
        return;
      }
      const now10 = Math.floor((done / planned) * 10);
      if (now10 === tenths) return;
      tenths = now10;
      stream.write(`eval ${parts.join("  ")}\n`);
    },
  };
}
