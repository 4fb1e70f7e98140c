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
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { loadPolicyModel } from "../../src/engine/model/policy-model.ts";
import { PolicyTrainer } from "../../src/engine/training/policy-trainer.ts";

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

const rows = calls.map(({ promptIds, responseIds }, i): TrainingRow => {
  const tokens = Int32Array.from([...promptIds, ...responseIds]);
  const uid = String(i);
  return {
    tokens,
    targetMask: new Uint8Array(tokens.length).fill(1, promptIds.length),
    samplingLogprobs: new Float32Array(tokens.length),
    advantages: new Float32Array(tokens.length),
    segments: [],
    provenance: {
      taskId: uid,
      episodeId: uid,
      rolloutIndex: 0,
      trajectoryUid: uid,
      trajectoryName: "validation",
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), "export-distances-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

async function write(name: string, ...flags: readonly string[]): Promise<string> {
  const into = join(folder, name);
  const args = ["model", ...flags, "--into", into, "--quiet"];
  const code = await runCli(args, { stdout: { write: () => undefined }, stderr: process.stderr });
  if (code !== 0) throw new Error(`agent-trainer ${args.join(" ")} ended with ${code}.`);
  return into;
}

/** Of the sampled tokens, with this file. */
async function logprobsOf(path: string): Promise<readonly number[]> {
  const policy = await loadPolicyModel(path, { lora: null, seed: 0 });
  const trainer = new PolicyTrainer(policy, { threads: availableParallelism(), memoryMiB: 1024 });
  try {
    const all = await trainer.forward(rows);
    return all.flatMap((row, i) => [...row.subarray(calls[i]!.promptIds.length)]);
  } finally {
    await trainer.close();
    policy.scratch?.[Symbol.dispose]();
  }
}

const trained = calls.flatMap(({ logprobs }) => logprobs);
const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

async function distance(path: string): Promise<Record<string, number>> {
  const exported = await logprobsOf(path);
  const differences = exported.map((logprob, i) => logprob - trained[i]!);
  const ratios = differences.map(Math.exp);
  return {
    "mean absolute difference": mean(differences.map(Math.abs)),
    // The k3 estimate, http://joschu.net/blog/kl-approx.html
    "KL, nats per token": mean(differences.map((difference, i) => ratios[i]! - 1 - difference)),
    "effective sample size": mean(ratios) ** 2 / mean(ratios.map((ratio) => ratio ** 2)),
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
