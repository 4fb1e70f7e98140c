/** `engine-int8`: a base of 8-bit integers next to one of floats: their speed and how far they are off. */
import { type ModelCase, smolConfig } from "../engine/models.ts";
import { hasLlama, publishedModel } from "../engine-llama/llama-files.ts";
import type { SampleTurn, TrainTurn, TurnAnswer } from "../engine-peers/turn.ts";
import { startOurs } from "../engine-peers/turns.ts";
import type { QuantizationDistance } from "../../src/engine/quantization-distance.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import type { LineProcess } from "../harness/line-process.ts";
import { compared, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import type { Mismatch, MismatchInput } from "./mismatch-case.ts";

const floats: ModelCase = {
  name: "SmolLM2-135M-Instruct",
  folder: publishedModel,
  loraRank: 16,
  vocabSize: smolConfig.vocab_size,
};
const integers: ModelCase = { ...floats, quantization: "int8" };
const [name, peerName] = ["int8 base", "floats"];

interface Pair {
  readonly integers: LineProcess;
  readonly floats: LineProcess;
}

async function speed(
  pair: Pair,
  turn: SampleTurn | TrainTurn,
  repetitions: number,
): Promise<Result> {
  const seconds = { integers: [] as number[], floats: [] as number[] };
  for (let i = 0; i < repetitions; i++) {
    for (const side of ["integers", "floats"] as const)
      seconds[side].push((await pair[side].askWarm<TurnAnswer>(turn)).seconds);
  }
  const [tokens, label] =
    turn.do === "train"
      ? [turn.rows * turn.tokens, `training ${turn.rows} x ${turn.tokens}`]
      : [turn.batch * turn.newTokens, `sampling, batch ${turn.batch}`];
  return compared(`${floats.name}, ${name}, ${label}`, "tokens/s", {
    ours: tokens / median(seconds.integers),
    peer: tokens / median(seconds.floats),
    peerName,
    ratio: median(seconds.integers.map((mine, i) => seconds.floats[i]! / mine)),
  });
}

/** From the network that is trained. */
async function mismatch(size: Omit<MismatchInput, "model">): Promise<readonly Result[]> {
  const file = new URL("mismatch-case.ts", import.meta.url);
  const off = await runChild<Mismatch>(file, { ...size, model: integers });
  const label = `${floats.name}, ${name}, sampled and trained`;
  return [
    result(`${label}: difference of log-probabilities`, "nats", off.logprobDifference),
    result(`${label}: KL`, "nats a token", off.kl),
    result(`${label}: effective sample size`, "", off.effectiveSampleSize),
  ];
}

/** From the model as published. */
async function distance(): Promise<readonly Result[]> {
  const file = new URL("distance-case.ts", import.meta.url);
  const off = await runChild<QuantizationDistance>(file, { model: integers });
  const label = `${floats.name}, int8 base, from the model as published`;
  return [
    result(`${label}: KL`, "nats a token", off.kl),
    result(`${label}: effective sample size`, "", off.effectiveSampleSize),
  ];
}

export const engineInt8: Benchmark = {
  name: "engine-int8",
  summary: "a base of 8-bit integers: tokens/s and distances",
  async run({ quick, repetitions }, log) {
    if (!hasLlama()) {
      log("There is no model to sample from: npm run bench:setup:llama fetches it.");
      return [];
    }
    const results: Result[] = [];
    const training = { do: "train", rows: quick ? 2 : 4, tokens: quick ? 16 : 256 } as const;
    const sizes = { promptTokens: quick ? 16 : 64, newTokens: quick ? 8 : 64 };
    using ours = startOurs();
    using peer = startOurs();
    await ours.ask({ do: "open", model: integers });
    await peer.ask({ do: "open", model: floats });
    const pair = { integers: ours, floats: peer };
    log("training, in turns with floats ...");
    results.push(await speed(pair, training, repetitions));
    for (const batch of quick ? [1, 4] : [1, 8, 32]) {
      log(`batch ${batch}, in turns with floats ...`);
      results.push(await speed(pair, { do: "sample", batch, ...sizes }, repetitions));
    }
    log("log-probabilities of what was sampled ...");
    const size = { prompts: quick ? 2 : 16, newTokens: quick ? 8 : 96 };
    return [...results, ...(await mismatch(size)), ...(await distance())];
  },
};
