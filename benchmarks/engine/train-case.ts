/** Child: gradient and optimizer steps of one model on the same rows over and over. */
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import { answer, peakMiB } from "../harness/child-side.ts";
import type { ModelCase } from "./models.ts";
import { openEngine } from "./open-engine.ts";
import { makeRows, type RowShape } from "./rows.ts";

export interface TrainInput {
  readonly model: ModelCase;
  readonly shapes: readonly RowShape[];
  readonly repetitions: number;
}

export interface TrainOutput {
  /** Of each repetition. */
  readonly seconds: readonly number[];
  readonly peakMiB: number;
}

/** Takes its memory, and packs the transposed weights. */
const warmUps = 1;

answer(async ({ model, shapes, repetitions }: TrainInput): Promise<TrainOutput> => {
  const rows = makeRows(shapes, model.vocabSize);
  await using engine = await openEngine(model);
  const seconds: number[] = [];
  for (let i = -warmUps; i < repetitions; i++) {
    const start = performance.now();
    await engine.forwardBackward(rows, defaultLoss);
    await engine.optimStep({ ...defaultOptim, learningRate: 1e-6 });
    if (i >= 0) seconds.push((performance.now() - start) / 1000);
  }
  return { seconds, peakMiB: peakMiB() };
});
