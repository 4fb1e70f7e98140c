/** Whether the time of an evaluator grows faster than its input, found before it takes minutes. */
import type { Episode } from "../../../core/trajectory.ts";
import { backtracking } from "./probes.ts";
import { finding, type RewardFinding } from "./report.ts";
import { scoreProbe, type Scored, type Scoring } from "./score-probe.ts";

/** Small steps first: work that doubles with every letter is noticed while it takes milliseconds. */
const lengths = [16, 18, 20, 22, 24, 26, 28, 32, 64, 256, 1024, 4096];
/** Below this, a time is noise, or harmless. */
const noticeableMs = 100;
/** Times of the same call that must all be slow, since another program may take the time of one. */
const tries = 3;

export interface Slowness {
  readonly findings: readonly RewardFinding[];
  /** Outputs of this many characters and more may take too long; Infinity where none was slow. */
  readonly limit: number;
}

const isSuperlinear = (before: Scored, after: Scored): boolean => {
  const growth = after.ms / Math.max(before.ms, 0.5);
  return after.ms > noticeableMs && growth > 2.5 * (after.length / before.length);
};

/** Scores longer and longer outputs of several kinds, and stops as soon as one is slow. */
export async function findSlowness(
  scoring: Scoring,
  episodeOf: (text: string) => Episode,
): Promise<Slowness> {
  for (const { name, text } of backtracking) {
    let before: Scored | undefined;
    for (const length of lengths) {
      const output = text(length);
      const score = () => scoreProbe(scoring, name, output, episodeOf(output));
      let scored = await score();
      // What waits is a matter of its deadline, not of its input.
      if (scored.failure === "times_out") break;
      const last = before;
      if (last !== undefined) {
        for (let i = 1; i < tries && isSuperlinear(last, scored); i++) {
          const again = await score();
          if (again.ms < scored.ms) scored = again;
        }
      }
      if (last !== undefined && isSuperlinear(last, scored)) {
        const evidence = `"${name}": ${last.length} characters take ${last.ms.toFixed(1)} ms, ${scored.length} take ${scored.ms.toFixed(0)} ms`;
        return {
          findings: [finding("slow_on_long_output", evidence, scored)],
          limit: scored.length,
        };
      }
      // Slow but steady: longer outputs would only take time.
      if (scored.ms > 1000) break;
      before = scored;
    }
  }
  return { findings: [], limit: Infinity };
}
