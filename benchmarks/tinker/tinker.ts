/** `tinker`: the client of the Tinker API: what a call adds to its requests, and how fast it serialises. */
import type { Benchmark } from "../harness/benchmark.ts";
import { measureCalls } from "./calls.ts";
import { measureSerialising } from "./serialise.ts";

export const tinker: Benchmark = {
  name: "tinker",
  summary: "what the Tinker client adds to its requests, and how fast it serialises",
  async run({ quick, repetitions }, log) {
    log("calls ...");
    const calls = await measureCalls(quick ? 20 : 500, repetitions);
    log("batches ...");
    const batch = quick ? { datums: 16, tokens: 512 } : { datums: 1024, tokens: 4096 };
    return [...calls, ...measureSerialising(batch, repetitions)];
  },
};
