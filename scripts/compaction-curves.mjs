/**
 * Runs examples/compaction/train.ts, with trained and with untrained notes, and writes docs/compaction.json:
 * rewards by step. All seeds begin with the same demonstrations.
 *
 *   node scripts/compaction-curves.mjs          seeds 0, 1 and 2; what is in the file already is not run again
 *   node scripts/compaction-curves.mjs 3 4      other seeds
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mean, runCurves } from "./seeded-curves.mjs";

const curves = await runCurves({
  file: "docs/compaction.json",
  example: "examples/compaction/train.ts",
  // One program.
  ways: ["both"],
  seeds: [0, 1, 2],
  argumentsOf: (_, seed) => [
    `trainer.seed=${seed}`,
    `trainer.output_dir=${JSON.stringify(join(tmpdir(), `compaction-${seed}-${Date.now()}`))}`,
  ],
  // `step 3  notes train  reward 0.4  share of notes 0.2`
  pointOf: ([, , , notes, , reward]) => ({ notes, reward: Number(reward) }),
});

for (const notes of ["train", "exclude"]) {
  const rewards = curves.map(({ steps }) =>
    steps.filter((step) => step.notes === notes).map(({ reward }) => reward),
  );
  const show = (from, to) => rewards.map((own) => mean(own.slice(from, to)).toFixed(3)).join(", ");
  console.log(`${notes}: first three steps ${show(0, 3)}; last five ${show(-5)}`);
}
