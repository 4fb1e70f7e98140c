/**
 * Runs examples/solver-judge.ts with an adapter for each role and with one set of weights, and writes
 * docs/role-adapters.json: rewards of both roles by step.
 *
 *   node scripts/role-curves.mjs          seeds 0, 1 and 2; what is in the file already is not run again
 *   node scripts/role-curves.mjs 3 4      other seeds
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const file = join(root, "docs/role-adapters.json");
const seeds = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [0, 1, 2];
const { curves } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { curves: [] };

/** `step 3  reward 0.4  solver 0.1  judge 0.9` to numbers. */
function pointOf(line) {
  const [, , , , , solver, , judge] = line.split(/\s+/);
  return { solver: Number(solver), judge: Number(judge) };
}

for (const seed of seeds) {
  for (const way of ["adapter", "shared"]) {
    if (curves.some((one) => one.way === way && one.seed === seed)) continue;
    const { stdout, status } = spawnSync(
      process.execPath,
      [
        ...["--import", "tsx", "--conditions=agent-trainer-source"],
        ...[join(root, "examples/solver-judge.ts"), `judge=${way}`, `seed=${seed}`],
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
for (const way of ["adapter", "shared"]) {
  for (const role of ["solver", "judge"]) {
    const own = curves.filter((one) => one.way === way);
    const of = (from, to) =>
      own.map(({ steps }) => mean(steps.slice(from, to).map((step) => step[role])));
    const show = (values) => `${mean(values).toFixed(3)} (${values.map((v) => v.toFixed(2))})`;
    console.log(`${way} ${role}: first three steps ${show(of(0, 3))}, last three ${show(of(-3))}`);
  }
}
