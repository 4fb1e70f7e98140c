/** `engine-adapters`: what several adapters in one sampling batch cost, next to one adapter. */
import { type ModelCase, shopTiny, writeSmolModel } from "../engine/models.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { compared, type Result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import type { MixedInput, MixedOutput } from "./mixed-case.ts";

const caseFile = new URL("mixed-case.ts", import.meta.url);
/** The first is what the others are compared with. */
const counts = [1, 2, 4, 0] as const;

async function measure(
  model: ModelCase,
  sizes: Omit<MixedInput, "model" | "counts">,
): Promise<readonly Result[]> {
  const { seconds } = await runChild<MixedOutput>(caseFile, { model, counts, ...sizes });
  const tokens = sizes.batch * sizes.newTokens;
  const one = seconds[0]!;
  return counts.slice(1).map((count, i) => {
    const own = seconds[i + 1]!;
    const what = count === 0 ? "the base alone" : `${count} adapters`;
    return compared(`${model.name}, batch ${sizes.batch}, ${what}`, "tokens/s", {
      ours: tokens / median(own),
      peer: tokens / median(one),
      peerName: "one adapter",
      ratio: median(own.map((value, r) => one[r]! / value)),
    });
  });
}

export const engineAdapters: Benchmark = {
  name: "engine-adapters",
  summary: "sampling tokens/s with several LoRA adapters in one batch",
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    const sizes = { promptTokens: quick ? 16 : 64, newTokens: quick ? 8 : 64, repetitions };
    const tiny = { ...shopTiny, loraRank: 8 };
    const results = [...(await measure(tiny, { batch: quick ? 8 : 32, ...sizes }))];
    if (quick) return results;
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const smol = await writeSmolModel(folder.path);
    return [...results, ...(await measure(smol, { batch: 32, ...sizes, newTokens: 32 }))];
  },
};
