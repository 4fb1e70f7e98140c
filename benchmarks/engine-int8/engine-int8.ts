/** `engine-int8`: sampling with 8-bit weights beside 32-bit ones, its speed and how far it is off. */
import { type ModelCase, smolConfig } from "../engine/models.ts";
import { hasLlama, publishedModel } from "../engine-llama/llama-files.ts";
import type { SampleTurn, TurnAnswer } from "../engine-peers/turn.ts";
import { startOurs } from "../engine-peers/turns.ts";
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
const integers: ModelCase = { ...floats, precision: "int8" };
const peerName = "32-bit floats";

interface Pair {
  readonly integers: LineProcess;
  readonly floats: LineProcess;
}

async function speed(pair: Pair, turn: SampleTurn, repetitions: number): Promise<Result> {
  const seconds = { integers: [] as number[], floats: [] as number[] };
  for (let i = 0; i < repetitions; i++) {
    for (const side of ["integers", "floats"] as const)
      seconds[side].push((await pair[side].askWarm<TurnAnswer>(turn)).seconds);
  }
  const sampled = turn.batch * turn.newTokens;
  return compared(`${floats.name}, int8, batch ${turn.batch}`, "tokens/s", {
    ours: sampled / median(seconds.integers),
    peer: sampled / median(seconds.floats),
    peerName,
    ratio: median(seconds.integers.map((mine, i) => seconds.floats[i]! / mine)),
  });
}

async function mismatch(size: Omit<MismatchInput, "model">): Promise<readonly Result[]> {
  const file = new URL("mismatch-case.ts", import.meta.url);
  const off = await runChild<Mismatch>(file, { ...size, model: integers });
  const label = `${floats.name}, int8`;
  return [
    result(`${label}: difference of log-probabilities`, "nats", off.logprobDifference),
    result(`${label}: KL`, "nats a token", off.kl),
    result(`${label}: effective sample size`, "", off.effectiveSampleSize),
  ];
}

export const engineInt8: Benchmark = {
  name: "engine-int8",
  summary: "sampling with 8-bit weights: tokens/s, and the distance to the trained distribution",
  async run({ quick, repetitions }, log) {
    if (!hasLlama()) {
      log("There is no model to sample from: npm run bench:setup:llama fetches it.");
      return [];
    }
    const results: Result[] = [];
    {
      using ours = startOurs();
      using peer = startOurs();
      await ours.ask({ do: "open", model: integers });
      await peer.ask({ do: "open", model: floats });
      const sizes = { promptTokens: quick ? 16 : 64, newTokens: quick ? 8 : 64 };
      for (const batch of quick ? [1, 4] : [1, 8, 32]) {
        log(`batch ${batch}, in turns with 32-bit floats ...`);
        const turn = { do: "sample", batch, ...sizes } as const;
        results.push(await speed({ integers: ours, floats: peer }, turn, repetitions));
      }
    }
    log("log-probabilities of what was drawn ...");
    const size = { prompts: quick ? 2 : 16, newTokens: quick ? 8 : 96 };
    return [...results, ...(await mismatch(size))];
  },
};
