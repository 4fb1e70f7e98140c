/** Runs an example in several ways with several seeds, and keeps its lines of steps in a file of docs/. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "..");
const loader = ["--import", "tsx", "--conditions=agent-trainer-source"];

/**
 * Seeds come from the command line; what is in the file already is not run again.
 * @param file `{ curves: [{ way, seed, machine, peakMiB, steps, validations }] }`, written after each run
 * @param pointOf the numbers of a line that begins with `step`, from its words
 * @param validationOf likewise of one that begins with `validation`; none: validations are not kept
 * @param isDone of a way and a validation: the run is ended there
 * @returns the curves, old and new
 */
export async function runCurves(options) {
  const path = join(root, options.file);
  const given = process.argv.slice(2).map(Number);
  const seeds = given.length > 0 ? given : options.seeds;
  const { curves } = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { curves: [] };
  const runs = seeds
    .flatMap((seed) => options.ways.map((way) => ({ way, seed })))
    .filter(({ way, seed }) => !curves.some((one) => one.way === way && one.seed === seed));
  for (const { way, seed } of runs) {
    const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
    curves.push({ way, seed, machine, ...(await runOne(options, way, seed)) });
    writeFileSync(path, `${JSON.stringify({ curves })}\n`);
  }
  return curves;
}

async function runOne({ example, argumentsOf, pointOf, validationOf, isDone }, way, seed) {
  const peak = ["--import", join(import.meta.dirname, "print-peak.mjs")];
  const child = spawn(
    process.execPath,
    [...peak, ...loader, join(root, example), ...argumentsOf(way, seed)],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  const closed = once(child, "close");
  const steps = [];
  const validations = [];
  let peakMiB = null;
  for await (const line of createInterface(child.stdout)) {
    const words = line.split(/\s+/);
    if (words[0] === "peak") peakMiB = Number(words[1]);
    else if (line.startsWith("step")) steps.push(pointOf(words));
    else if (line.startsWith("validation") && validationOf !== undefined) {
      validations.push({ step: steps.length, ...validationOf(words) });
      if (isDone?.(way, validations.at(-1)) === true) child.kill("SIGINT");
    }
  }
  const [status] = await closed;
  // A run says that it was ended.
  if (status !== 0 && !child.killed)
    throw new Error(`${way} with seed ${seed} ended with exit status ${status}.`);
  return { peakMiB, steps, ...(validationOf === undefined ? {} : { validations }) };
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
