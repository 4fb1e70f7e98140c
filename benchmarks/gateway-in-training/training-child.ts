/** Child: a gateway over the local backend, in one process as the trainer runs them; trains on and on, or rests. */
import type { SamplerTarget } from "../../src/core/backend.ts";
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { createGateway } from "../../src/gateway/index.ts";
import type { ModelCase } from "../engine/models.ts";
import { denseRows, makeRows } from "../engine/rows.ts";
import { answer as response } from "../harness/child-side.ts";

export interface TrainingChildInput {
  readonly model: ModelCase;
  /** Rows of a step, and tokens of a row. */
  readonly size: readonly [number, number];
  readonly isTraining: boolean;
}

export interface TrainingChildOutput {
  readonly url: string;
}

response(async ({ model, size, isTraining }: TrainingChildInput): Promise<TrainingChildOutput> => {
  const backend = createLocalBackend();
  const lora = model.loraRank === null ? null : { rank: model.loraRank, alpha: 32 };
  const target = (await backend.start({
    seed: 1,
    model: { name: model.folder, lora },
    signal: new AbortController().signal,
  })) as SamplerTarget;
  const rows = makeRows(denseRows(...size), model.vocabSize);
  const optim = { ...defaultOptim, learningRate: 1e-6 };
  const step = (): Promise<unknown> => backend.updatePolicy(rows, defaultLoss, optim);
  // The first one builds the graph.
  await step();
  const { url } = await createGateway({ target, model: model.name }).listen();
  const trainOn = async (): Promise<never> => {
    for (;;) {
      await step();
      await backend.publishWeights();
    }
  };
  if (isTraining) void trainOn();
  return { url };
});
