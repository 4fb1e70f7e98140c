/**
 * Runs examples/cookbooks/critic.ts in every way with several seeds and writes docs/critic.json: rewards by step and
 * sampled tokens.
 *
 *   node scripts/critic-curves.mjs          seeds 0 to 4; what is in the file already is not run again
 *   node scripts/critic-curves.mjs 5 6      other seeds
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const file = join(root, "docs/critic.json");
const seeds = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [0, 1, 2, 3, 4];
const written = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { curves: [] };
const { curves } = written;

/** `step 3  tokens 900  reward 0.5  explained 0.1` to numbers. */
function pointOf(line) {
  const [, , , tokens, , reward, , explained] = line.split(/\s+/);
  const about = explained === "-" ? {} : { explained: Number(explained) };
  return { tokens: Number(tokens), reward: Number(reward), ...about };
}

for (const seed of seeds) {
  for (const way of ["critic", "gae", "grpo", "batch"]) {
    if (curves.some((one) => one.way === way && one.seed === seed)) continue;
    const { stdout, status } = spawnSync(
      process.execPath,
      [
        ...["--import", "tsx", "--conditions=agent-trainer-source"],
        ...[join(root, "examples/cookbooks/critic.ts"), way, `trainer.seed=${seed}`],
        `trainer.output_dir=${JSON.stringify(join(tmpdir(), `critic-${way}-${seed}-${Date.now()}`))}`,
      ],
      { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
    );
    if (status !== 0) throw new Error(`${way} with seed ${seed} ended with exit status ${status}.`);
    const steps = stdout
      .split("\n")
      .filter((line) => line.startsWith("step"))
      .map(pointOf);
    const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
    curves.push({ way, seed, machine, steps });
    writeFileSync(file, `${JSON.stringify({ curves })}\n`);
  }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
for (const way of new Set(curves.map((one) => one.way))) {
  const own = curves.filter((one) => one.way === way);
  const of = (from, to, name) =>
    mean(own.map(({ steps }) => mean(steps.slice(from, to).map((step) => step[name])))).toFixed(3);
  const tokens = mean(own.map(({ steps }) => steps.at(-1).tokens)).toFixed(0);
  console.log(
    `${way}: reward of all steps ${of(0, 20, "reward")}, of the last five ${of(15, 20, "reward")}, explained ${of(4, 20, "explained")}, ${tokens} tokens, ${own.length} seeds`,
  );
}
