/** `native-engine`: the engine on own kernels and the one on onnxruntime, in turns. */
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { compared, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import { writeSmolModel } from "../engine/models.ts";
import type { EngineInput, EngineOutput } from "./engine-case.ts";

const caseFile = new URL("engine-case.ts", import.meta.url);
const engines = ["runtime", "kernels f32", "kernels bf16"] as const;

export const nativeEngine: Benchmark = {
  name: "native-engine",
  summary: "training and sampling on own kernels, in turns with onnxruntime",
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const model = await writeSmolModel(folder.path);
    const trainingTokens = quick ? ([2, 64] as const) : ([4, 256] as const);
    const batches = quick ? [1, 4] : [1, 8, 32];
    const input = { model, trainingTokens, batches, sampledTokens: quick ? 8 : 48 };
    const found = new Map<EngineInput["engine"], EngineOutput[]>();
    for (let round = 0; round < repetitions; round++) {
      for (const engine of engines) {
        const output = await runChild<EngineOutput>(caseFile, { ...input, engine });
        found.set(engine, [...(found.get(engine) ?? []), output]);
        log(`${engine} (${output.instructionSet}): ${output.training.toFixed(0)} trained tokens/s`);
      }
    }
    const of = (engine: EngineInput["engine"], pick: (output: EngineOutput) => number): number =>
      median(found.get(engine)!.map(pick));
    const rows = (label: string, unit: string, pick: (output: EngineOutput) => number): Result[] =>
      engines.slice(1).map((engine) => {
        const [ours, peer] = [of(engine, pick), of("runtime", pick)];
        const numbers = { ours, peer, peerName: "onnxruntime", ratio: ours / peer };
        return compared(`${label}, ${engine}`, unit, numbers);
      });
    const shape = `${trainingTokens.join(" x ")} tokens`;
    return [
      ...rows(`LoRA training, ${shape}`, "tokens/s", ({ training }) => training),
      ...batches.flatMap((batch, i) =>
        rows(`sampling, batch ${batch}`, "tokens/s", ({ sampling }) => sampling[i]!),
      ),
      ...rows("peak memory", "MiB", ({ peakMiB }) => peakMiB),
      result("rounds", "", repetitions),
    ];
  },
};
