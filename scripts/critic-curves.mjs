/**
 * Runs examples/cookbooks/critic.ts in every way with several seeds and writes docs/critic.json: rewards by step and
 * sampled tokens.
 *
 *   node scripts/critic-curves.mjs          seeds 0 to 4; what is in the file already is not run again
 *   node scripts/critic-curves.mjs 5 6      other seeds
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mean, runCurves } from "./seeded-curves.mjs";

const folderOf = (way, seed) => join(tmpdir(), `critic-${way}-${seed}-${Date.now()}`);

const curves = await runCurves({
  file: "docs/critic.json",
  example: "examples/cookbooks/critic.ts",
  ways: ["critic", "gae", "grpo", "batch"],
  seeds: [0, 1, 2, 3, 4],
  argumentsOf: (way, seed) => [
    way,
    `trainer.seed=${seed}`,
    `trainer.output_dir=${JSON.stringify(folderOf(way, seed))}`,
  ],
  // `step 3  tokens 900  reward 0.5  explained 0.1`
  pointOf: ([, , , tokens, , reward, , explained]) => ({
    tokens: Number(tokens),
    reward: Number(reward),
    ...(explained === "-" ? {} : { explained: Number(explained) }),
  }),
});

for (const way of new Set(curves.map((one) => one.way))) {
  const own = curves.filter((one) => one.way === way);
  const of = (from, to, name) =>
    mean(own.map(({ steps }) => mean(steps.slice(from, to).map((step) => step[name])))).toFixed(3);
  const tokens = mean(own.map(({ steps }) => steps.at(-1).tokens)).toFixed(0);
  console.log(
    `${way}: reward of all steps ${of(0, 20, "reward")}, of the last five ${of(15, 20, "reward")}, explained ${of(4, 20, "explained")}, ${tokens} tokens, ${own.length} seeds`,
  );
}
