/** `engine-train`: tokens per second of a gradient and an optimizer step, and the memory they take. */
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { atMost, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import { type ModelCase, shopTiny, writeSmolModel } from "./models.ts";
import { countTokens, demoStep, denseRows, type RowShape } from "./rows.ts";
import type { TrainInput, TrainOutput } from "./train-case.ts";

interface TrainCase {
  readonly model: ModelCase;
  readonly label: string;
  readonly shapes: readonly RowShape[];
  /** Goal for the memory. */
  readonly mostMiB?: number;
}

const caseFile = new URL("train-case.ts", import.meta.url);

async function measure(item: TrainCase, repetitions: number): Promise<readonly Result[]> {
  const { model, label, shapes, mostMiB } = item;
  const input: TrainInput = { model, shapes, repetitions };
  const { seconds, peakMiB } = await runChild<TrainOutput>(caseFile, input);
  const goal = mostMiB === undefined ? undefined : atMost(mostMiB);
  return [
    result(label, "tokens/s", countTokens(shapes) / median(seconds)),
    result(`${label}: peak memory`, "MiB", peakMiB, goal),
  ];
}

export const engineTrain: Benchmark = {
  name: "engine-train",
  summary: "training tokens/s and peak memory of the embedded engine",
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const smol = await writeSmolModel(folder.path);
    const [rows, tokens] = quick ? [2, 64] : [4, 256];
    const loraLabel = `${smol.name}, LoRA rank ${smol.loraRank}, ${rows} x ${tokens} tokens`;
    const cases: TrainCase[] = [
      { model: shopTiny, label: `${shopTiny.name}, all weights, a demo step`, shapes: demoStep },
      {
        model: smol,
        label: loraLabel,
        shapes: denseRows(rows, tokens),
        ...(quick ? {} : { mostMiB: 3072 }),
      },
    ];
    const results: Result[] = [];
    for (const item of cases) {
      log(`${item.label} ...`);
      results.push(...(await measure(item, repetitions)));
    }
    return results;
  },
};
