/**
 * How far exported files are from the network that a run trained with LoRA: on the tokens of its last validation,
 * whose log-probabilities the run recorded while it sampled them (at temperature 1, from the newest checkpoint).
 * Files are read by this engine, in 32-bit floats.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/export-distances/main.ts RUN [--episodes 96]
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runCli } from "../../src/cli/program.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { distanceOf, forwardPlain, rowOfSample } from "../../src/engine/quantization-distance.ts";

interface RecordedCall {
  readonly promptIds: readonly number[];
  readonly responseIds: readonly number[];
  readonly logprobs: readonly number[];
}
interface RecordedEpisode {
  readonly trajectories: readonly { readonly steps: readonly { readonly trace: RecordedCall }[] }[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { episodes: { type: "string", default: "96" } },
});
const [run] = positionals;
if (run === undefined) throw new Error("Usage: main.ts RUN [--episodes 96]");

const step = readdirSync(join(run, "checkpoints")).toSorted().at(-1)!;
const weights = join(run, "checkpoints", step, "weights");
const recorded = readFileSync(join(run, "episodes", `val-${step}.jsonl`), "utf8");
const calls = recorded
  .trimEnd()
  .split("\n")
  .slice(0, Number(values.episodes))
  .map((line) => JSON.parse(line) as RecordedEpisode)
  .flatMap(({ trajectories }) => trajectories.flatMap(({ steps }) => steps))
  .map(({ trace }) => trace);

const rows = calls.map(({ promptIds, responseIds }, i) =>
  rowOfSample(promptIds, responseIds, String(i)),
);

const folder = mkdtempSync(join(tmpdir(), "export-distances-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

async function write(name: string, ...flags: readonly string[]): Promise<string> {
  const into = join(folder, name);
  const args = ["model", ...flags, "--into", into, "--quiet"];
  const code = await runCli(args, { stdout: { write: () => undefined }, stderr: process.stderr });
  if (code !== 0) throw new Error(`agent-trainer ${args.join(" ")} ended with ${code}.`);
  return into;
}

const trained = calls.flatMap(({ logprobs }) => logprobs);
const device = new Device({ threads: availableParallelism() });

async function distance(path: string): Promise<Record<string, number>> {
  const all = await forwardPlain(rows, { path, device, precision: "f32", memoryMiB: 1024 });
  const exported = all.flatMap((row, i) => [...row.subarray(calls[i]!.promptIds.length)]);
  const differences = exported.map((logprob, i) => logprob - trained[i]!);
  const { kl, effectiveSampleSize } = distanceOf(differences);
  const absolute = differences.reduce((sum, difference) => sum + Math.abs(difference), 0);
  return {
    "mean absolute difference": absolute / differences.length,
    "KL, nats per token": kl,
    "effective sample size": effectiveSampleSize,
  };
}

const gguf = ["export", weights, "--format", "gguf"];
const table: Record<string, Record<string, number>> = {};
for (const dtype of ["f32", "bf16", "f16", "q8_0"]) {
  const path = await write(`${dtype}.gguf`, ...gguf, "--dtype", dtype);
  table[`merged, ${dtype}`] = await distance(path);
  rmSync(path);
}
const base = await write("base.gguf", ...gguf, "--part", "base", "--dtype", "q8_0");
const together = await write("together", "merge", weights, "--base", base, "--dtype", "f32");
table["base as q8_0, adapter in f32"] = await distance(together);
console.log(`${trained.length} tokens of ${calls.length} calls`);
console.table(table);
