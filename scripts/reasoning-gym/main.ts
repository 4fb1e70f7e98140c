/**
 * Trains SmolLM2-135M-Instruct on families of reasoning-gym, one after the other, each from the published
 * weights. Prints a JSON line for each, and writes the table of benchmarks/NOTES.md and the curves of docs/environments.md.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/reasoning-gym/main.ts MODEL [FAMILY ...]
 *
 * MODEL is a folder, a .gguf file, or OWNER/NAME on a hub. Without names, all families of families.ts that
 * were not measured yet.
 */
import { execFileSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { environmentsPython } from "../../test/integration/environments/python.ts";
import { root } from "../../test/integration/root.ts";
import { afterExamples, families } from "./families.ts";
import { type Example, measure, type Row, setup } from "./measure.ts";
import { isLearned, record, recorded } from "./report.ts";

const done = new Set(recorded().map(({ family }) => family));
const [model, ...named] = process.argv.slice(2);
if (model === undefined) throw new Error("Usage: main.ts MODEL [FAMILY ...]");
const chosen = named.length > 0 ? named : Object.keys(families).filter((name) => !done.has(name));
const unknown = chosen.filter((name) => !Object.hasOwn(families, name));
if (unknown.length > 0) throw new Error(`Not in families.ts: ${unknown.join(", ")}`);

const python = environmentsPython();
const size = String(setup.size);

const program = join(root, "python", "agent_trainer_gym");

function runPython(args: readonly string[]): string {
  return execFileSync(python, ["-W", "ignore", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1e8,
  });
}

function bestConstant(family: string): Row["constant"] {
  const options = JSON.stringify(families[family]);
  const script = join(import.meta.dirname, "prepare.py");
  const common = ["--size", size, "--config", options, "--constants", String(setup.constants)];
  const line = runPython([script, family, ...common]);
  return JSON.parse(line.slice(line.indexOf("{"))) as Row["constant"];
}

function examplesOf(family: string): readonly Example[] {
  if (!afterExamples.has(family)) return [];
  const options = JSON.stringify(families[family]);
  const lines = runPython([program, family, "--size", size, "--config", options, "--examples"]);
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Example);
}

/** The name of the environment, with the options of the family. */
function envOf(family: string): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...families[family], size: setup.size }))
    query.set(key, JSON.stringify(value));
  return `reasoning-gym:${family}?${query.toString()}`;
}

const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
for (const family of chosen) {
  try {
    // One after the other, so that their seconds mean something.
    // oxlint-disable-next-line no-await-in-loop
    const row = await measure(family, envOf(family), model, {
      constant: bestConstant(family),
      examples: examplesOf(family),
      python,
    });
    record(row, { setup, machine });
    console.log(JSON.stringify({ ...row, learned: isLearned(row) }));
  } catch (error) {
    process.exitCode = 1;
    console.error(`${family}:`, error);
  }
}
