/** Child: how far a base of 8-bit integers is from the model as published. */
import { loadModelRenderer } from "../../src/backends/local/load-model.ts";
import { probePrompts } from "../../src/backends/local/quantization-notice.ts";
import { choosePrecision } from "../../src/engine/decoder/choose-precision.ts";
import { defaultTrainingMemoryMiB } from "../../src/engine/policy-engine.ts";
import { quantizationDistance } from "../../src/engine/quantization-distance.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { defaultThreads } from "../engine/models.ts";
import { openEngine } from "../engine/open-engine.ts";
import { answer } from "../harness/child-side.ts";
import type { MismatchInput } from "./mismatch-case.ts";

/** As a run measures it when it starts. */
answer(async ({ model }: Pick<MismatchInput, "model">) => {
  await using engine = await openEngine(model);
  const device = new Device({ threads: defaultThreads() });
  return await quantizationDistance(engine, {
    path: model.folder,
    prompts: probePrompts(await loadModelRenderer(model.folder)),
    device,
    precision: choosePrecision("auto", device),
    memoryMiB: defaultTrainingMemoryMiB,
  });
});
