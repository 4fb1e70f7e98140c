/** `engine-llama`: sampling beside llama.cpp, and beside what memory allows. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultThreads, type ModelCase, smolConfig } from "../engine/models.ts";
import { type SampleTurn, startOurs } from "../engine-peers/turns.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { LineProcess } from "../harness/line-process.ts";
import { atLeast, compared, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import type { BandwidthOutput } from "./bandwidth-child.ts";
import { hasLlama, llamaVersions, publishedModel } from "./llama-files.ts";

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The published weights as 16-bit floats, which llama.cpp computes with. */
function writeHalves(folder: string): string {
  const file = join(folder, "smollm2-f16.gguf");
  const program = [...process.execArgv, fileOf("../../src/cli/main.ts")];
  const command = ["model", "export", publishedModel, "--format", "gguf", "--dtype", "f16"];
  const { status } = spawnSync(process.execPath, [...program, ...command, "--into", file], {
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error(`Exporting the model ended with ${status}.`);
  return file;
}

interface Opened extends Disposable {
  readonly ours: LineProcess;
  readonly llama: LineProcess;
}

async function openBoth(model: ModelCase): Promise<Opened> {
  const ours = startOurs();
  const llama = new LineProcess("llama.cpp", process.execPath, [
    ...process.execArgv,
    fileOf("llama-child.ts"),
  ]);
  await ours.ask({ do: "open", model });
  const { folder, vocabSize } = model;
  await llama.ask({ do: "open", model: folder, vocabSize, threads: defaultThreads() });
  return {
    ours,
    llama,
    [Symbol.dispose]() {
      ours[Symbol.dispose]();
      llama[Symbol.dispose]();
    },
  };
}

async function besideLlama(
  { ours, llama }: Opened,
  turn: SampleTurn,
  repetitions: number,
): Promise<readonly Result[]> {
  const seconds = { ours: [] as number[], llama: [] as number[] };
  let peaks: readonly [ours: number, llama: number] = [0, 0];
  for (let i = 0; i < repetitions; i++) {
    const mine = await ours.askWarm<{ seconds: number; peakMiB: number }>(turn);
    const theirs = await llama.askWarm<{ seconds: number; peakMiB: number }>(turn);
    seconds.ours.push(mine.seconds);
    seconds.llama.push(theirs.seconds);
    peaks = [mine.peakMiB, theirs.peakMiB];
  }
  const sampled = turn.batch * turn.newTokens;
  const peerName = "llama.cpp, 16-bit floats";
  const label = `SmolLM2-135M-Instruct, batch ${turn.batch}`;
  const pair = {
    ours: sampled / median(seconds.ours),
    peer: sampled / median(seconds.llama),
    peerName,
    ratio: median(seconds.ours.map((mine, i) => seconds.llama[i]! / mine)),
  };
  const memory = { ours: peaks[0], peer: peaks[1], peerName, ratio: peaks[0] / peaks[1] };
  return [
    compared(label, "tokens/s", pair, turn.batch === 32 ? atLeast(1.2) : undefined),
    compared(`${label}: peak memory`, "MiB", memory),
  ];
}

/** Decoding one sequence reads every weight once per token: the time of the first token is taken off. */
async function besideMemory(
  { ours }: Opened,
  model: ModelCase,
  sizes: Pick<SampleTurn, "promptTokens" | "newTokens">,
  repetitions: number,
): Promise<readonly Result[]> {
  const { hidden_size: hidden, intermediate_size: ffn, num_hidden_layers: layers } = smolConfig;
  const keys = smolConfig.num_key_value_heads * smolConfig.head_dim;
  const perLayer = 2 * hidden * hidden + 2 * hidden * keys + 3 * hidden * ffn;
  const bytesPerToken = 4 * (layers * perLayer + smolConfig.vocab_size * hidden);
  const shares: number[] = [];
  const bandwidths: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const turn = { do: "sample", batch: 1, ...sizes } as const;
    const whole = await ours.askWarm<{ seconds: number }>(turn);
    const first = await ours.ask<{ seconds: number }>({ ...turn, newTokens: 1 });
    const threads = defaultThreads();
    const file = new URL("bandwidth-child.ts", import.meta.url);
    const { bytesPerSecond } = await runChild<BandwidthOutput>(file, { threads });
    const perToken = (whole.seconds - first.seconds) / (sizes.newTokens - 1);
    shares.push(bytesPerToken / perToken / bytesPerSecond);
    bandwidths.push(bytesPerSecond / 1e9);
  }
  return [
    result("reading memory", "GB/s", median(bandwidths)),
    result(`${model.name}, batch 1: share of that, decoding`, "", median(shares), atLeast(0.9)),
  ];
}

export const engineLlama: Benchmark = {
  name: "engine-llama",
  summary: "sampling tokens/s beside llama.cpp and the memory's bandwidth",
  peerVersions: llamaVersions,
  async run({ quick, repetitions }, log) {
    if (!hasLlama()) {
      log("Nothing to compare with: npm run bench:setup:llama fetches it.");
      return [];
    }
    using folder = createTempFolder();
    log("writing SmolLM2-135M-Instruct as 16-bit floats ...");
    const model: ModelCase = {
      name: "SmolLM2-135M-Instruct",
      folder: writeHalves(folder.path),
      loraRank: 16,
      vocabSize: smolConfig.vocab_size,
    };
    using opened = await openBoth(model);
    const sizes = { promptTokens: quick ? 16 : 64, newTokens: quick ? 8 : 64 };
    const results: Result[] = [];
    for (const batch of quick ? [1, 4] : [1, 8, 32]) {
      log(`batch ${batch}, in turns with llama.cpp ...`);
      results.push(...(await besideLlama(opened, { do: "sample", batch, ...sizes }, repetitions)));
    }
    log("batch 1 beside reading memory ...");
    results.push(...(await besideMemory(opened, model, sizes, repetitions)));
    return results;
  },
};
