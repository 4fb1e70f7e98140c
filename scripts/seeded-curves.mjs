/** Runs an example in several ways with several seeds, and keeps its lines of steps in a file of docs/. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/**
 * Seeds come from the command line; what is in the file already is not run again.
 * @param file `{ curves: [{ way, seed, machine, steps }] }`, written after each run
 * @param pointOf the numbers of a line that begins with `step`, from its words
 * @returns the curves, old and new
 */
export function runCurves({ file, example, ways, seeds: usual, argumentsOf, pointOf }) {
  const path = join(root, file);
  const seeds = process.argv.length > 2 ? process.argv.slice(2).map(Number) : usual;
  const { curves } = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { curves: [] };
  const runs = seeds
    .flatMap((seed) => ways.map((way) => ({ way, seed })))
    .filter(({ way, seed }) => !curves.some((one) => one.way === way && one.seed === seed));
  for (const { way, seed } of runs) {
    const loader = ["--import", "tsx", "--conditions=agent-trainer-source"];
    const { stdout, status } = spawnSync(
      process.execPath,
      [...loader, join(root, example), ...argumentsOf(way, seed)],
      { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
    );
    if (status !== 0) throw new Error(`${way} with seed ${seed} ended with exit status ${status}.`);
    const lines = stdout.split("\n").filter((line) => line.startsWith("step"));
    const steps = lines.map((line) => pointOf(line.split(/\s+/)));
    const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
    curves.push({ way, seed, machine, steps });
    writeFileSync(path, `${JSON.stringify({ curves })}\n`);
  }
  return curves;
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
