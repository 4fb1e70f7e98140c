/** `engine-sample`: tokens drawn per second, prompts included, and the memory that takes. */
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import { shopTiny, writeSmolModel } from "./models.ts";
import type { SampleInput, SampleOutput } from "./sample-case.ts";

const caseFile = new URL("sample-case.ts", import.meta.url);

async function measure(input: SampleInput): Promise<readonly Result[]> {
  const { seconds, peakMiB } = await runChild<SampleOutput>(caseFile, input);
  const label = `${input.model.name}, batch ${input.batch}`;
  return [
    result(label, "tokens/s", (input.batch * input.newTokens) / median(seconds)),
    result(`${label}: peak memory`, "MiB", peakMiB),
  ];
}

export const engineSample: Benchmark = {
  name: "engine-sample",
  summary: "sampling tokens/s and peak memory of the embedded engine",
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const smol = await writeSmolModel(folder.path);
    const sizes = { promptTokens: quick ? 16 : 64, newTokens: quick ? 8 : 64 };
    const results: Result[] = [];
    for (const model of [shopTiny, smol]) {
      for (const batch of quick ? [1, 8] : [1, 8, 32]) {
        log(`${model.name}, batch ${batch} ...`);
        results.push(...(await measure({ model, batch, ...sizes, repetitions })));
      }
    }
    return results;
  },
};
