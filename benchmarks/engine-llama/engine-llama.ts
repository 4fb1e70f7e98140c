/** `engine-llama`: sampling compared with llama.cpp, and with what memory allows. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultThreads, type ModelCase, smolConfig } from "../engine/models.ts";
import type { SampleTurn, TurnAnswer } from "../engine-peers/turn.ts";
import { startOurs } from "../engine-peers/turns.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { LineProcess } from "../harness/line-process.ts";
import { goalOf, kernels } from "../harness/kernel-goals.ts";
import { atLeast, compared, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import type { BandwidthOutput } from "./bandwidth-child.ts";
import { hasLlama, llamaVersions, publishedModel } from "./llama-files.ts";

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What llama.cpp reads its weights as. */
type Format = "f16" | "q8_0";

/** The published weights in this format. */
function writeModel(folder: string, format: Format): string {
  const file = join(folder, `smollm2-${format}.gguf`);
  const program = [...process.execArgv, fileOf("../../src/cli/main.ts")];
  const command = ["model", "export", publishedModel, "--format", "gguf", "--dtype", format];
  const { status } = spawnSync(process.execPath, [...program, ...command, "--into", file], {
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error(`Exporting the model ended with ${status}.`);
  return file;
}

const startLlama = (): LineProcess =>
  new LineProcess("llama.cpp", process.execPath, [...process.execArgv, fileOf("llama-child.ts")]);

const peerNames: Readonly<Record<Format, string>> = {
  f16: "llama.cpp, 16-bit floats",
  q8_0: "llama.cpp, Q8_0",
};

/** What ours keeps its weights as. */
const formats = { floats: "", int8: ", int8 base" } as const;
type OurFormat = keyof typeof formats;

/** Of ratios, by batch, in either format. */
const goals: Readonly<Record<Format, Readonly<Record<number, number>>>> = goalOf({
  native: { f16: { 1: 2, 32: 6 }, q8_0: { 1: 1.5 } },
  portable: { f16: { 1: 1.5, 32: 4.5 }, q8_0: { 1: 1.2 } },
});

type Named<Name> = readonly (readonly [Name, LineProcess])[];

/** Everything alternates: both in each format. */
async function compareWithLlama(
  ours: Named<OurFormat>,
  llamas: Named<Format>,
  turn: SampleTurn,
  repetitions: number,
): Promise<readonly Result[]> {
  const mine = ours.map((): TurnAnswer[] => []);
  const theirs = llamas.map((): TurnAnswer[] => []);
  for (let i = 0; i < repetitions; i++) {
    for (const [k, [, process]] of ours.entries())
      mine[k]!.push(await process.askWarm<TurnAnswer>(turn));
    for (const [k, [, llama]] of llamas.entries())
      theirs[k]!.push(await llama.askWarm<TurnAnswer>(turn));
  }
  return ours.flatMap(([own], k) => ratios(own, mine[k]!, llamas, theirs, turn));
}

function ratios(
  own: OurFormat,
  mine: readonly TurnAnswer[],
  llamas: Named<Format>,
  theirs: readonly (readonly TurnAnswer[])[],
  turn: SampleTurn,
): readonly Result[] {
  const sampled = turn.batch * turn.newTokens;
  const label = `SmolLM2-135M-Instruct${formats[own]}, batch ${turn.batch}`;
  const speed = (answers: readonly TurnAnswer[]): number =>
    sampled / median(answers.map(({ seconds }) => seconds));
  const peak = (answers: readonly TurnAnswer[]): number =>
    Math.max(...answers.map(({ peakMiB }) => peakMiB));
  return llamas.flatMap(([format], k) => {
    const [answers, peerName] = [theirs[k]!, peerNames[format]];
    const goal = goals[format][turn.batch];
    const ratio = median(mine.map(({ seconds }, i) => answers[i]!.seconds / seconds));
    const memory = { ours: peak(mine), peer: peak(answers) };
    return [
      compared(
        label,
        "tokens/s",
        { ours: speed(mine), peer: speed(answers), peerName, ratio },
        goal === undefined ? undefined : atLeast(goal),
      ),
      compared(`${label}: peak memory`, "MiB", {
        ...memory,
        peerName,
        ratio: memory.ours / memory.peer,
      }),
    ];
  });
}

/** Decoding one sequence reads every weight once per token: the time of the first token is taken off. */
async function shareOfBandwidth(
  ours: LineProcess,
  model: ModelCase,
  sizes: Pick<SampleTurn, "promptTokens" | "newTokens">,
  repetitions: number,
): Promise<readonly Result[]> {
  const { hidden_size: hidden, intermediate_size: ffn, num_hidden_layers: layers } = smolConfig;
  const keys = smolConfig.num_key_value_heads * smolConfig.head_dim;
  const perLayer = 2 * hidden * hidden + 2 * hidden * keys + 3 * hidden * ffn;
  const bytesPerWeight = kernels.hasBfloat16 ? 2 : 4;
  const bytesPerToken = bytesPerWeight * (layers * perLayer + smolConfig.vocab_size * hidden);
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
    result(`${model.name}, batch 1: share of that, decoding`, "", median(shares), atLeast(0.7)),
  ];
}

export const engineLlama: Benchmark = {
  name: "engine-llama",
  summary: "sampling tokens/s compared with llama.cpp and with the memory's bandwidth",
  peerVersions: llamaVersions,
  async run({ quick, repetitions }, log) {
    if (!hasLlama()) {
      log("Nothing to compare with: npm run bench:setup:llama fetches it.");
      return [];
    }
    using folder = createTempFolder();
    log("writing SmolLM2-135M-Instruct as 16-bit floats and as Q8_0 ...");
    const files: Readonly<Record<Format, string>> = {
      f16: writeModel(folder.path, "f16"),
      q8_0: writeModel(folder.path, "q8_0"),
    };
    const { vocab_size: vocabSize } = smolConfig;
    const model: ModelCase = {
      name: "SmolLM2-135M-Instruct",
      folder: files.f16,
      loraRank: 16,
      vocabSize,
    };
    using ours = startOurs();
    using oursInt8 = startOurs();
    using halfPeer = startLlama();
    using bytePeer = startLlama();
    await ours.ask({ do: "open", model });
    await oursInt8.ask({ do: "open", model: { ...model, quantization: "int8" } });
    const both = [
      ["floats", ours],
      ["int8", oursInt8],
    ] as const;
    const llamas = [
      ["f16", halfPeer],
      ["q8_0", bytePeer],
    ] as const;
    for (const [format, llama] of llamas)
      await llama.ask({ do: "open", model: files[format], vocabSize, threads: defaultThreads() });
    const sizes = { promptTokens: quick ? 16 : 64, newTokens: quick ? 8 : 64 };
    const results: Result[] = [];
    for (const batch of quick ? [1, 4] : [1, 8, 32]) {
      log(`batch ${batch}, in turns with llama.cpp ...`);
      const turn = { do: "sample", batch, ...sizes } as const;
      results.push(...(await compareWithLlama(both, llamas, turn, repetitions)));
    }
    log("batch 1 compared with reading memory ...");
    results.push(...(await shareOfBandwidth(ours, model, sizes, repetitions)));
    return results;
  },
};
