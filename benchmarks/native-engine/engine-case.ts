/** Child: one training step and decoding with one of the engines, over and over. */
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import type { Sampler } from "../../src/core/policy.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { loadPolicy } from "../../src/engine/decoder/policy.ts";
import { PolicyTrainer } from "../../src/engine/decoder/training/trainer.ts";
import { BatchSampler } from "../../src/engine/generation/batch-sampler.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { defaultThreads, type ModelCase } from "../engine/models.ts";
import { openEngine } from "../engine/open-engine.ts";
import { denseRows, makeRows } from "../engine/rows.ts";
import { answer, peakMiB } from "../harness/child-side.ts";
import { median } from "../harness/statistics.ts";

export interface EngineInput {
  readonly model: ModelCase;
  /** `runtime` is the engine on onnxruntime. */
  readonly engine: "runtime" | "kernels f32" | "kernels bf16";
  readonly trainingTokens: readonly [rows: number, tokens: number];
  readonly batches: readonly number[];
  readonly sampledTokens: number;
}

export interface EngineOutput {
  /** Tokens per second. */
  readonly training: number;
  /** Of each batch, with prompts of 64 tokens. */
  readonly sampling: readonly number[];
  readonly instructionSet: string;
  readonly peakMiB: number;
}

interface Engine {
  readonly sampler: Sampler;
  readonly instructionSet: string;
  step(rows: readonly TrainingRow[]): Promise<void>;
}

const optim = { ...defaultOptim, learningRate: 1e-6 };

async function open({ model, engine }: EngineInput): Promise<Engine> {
  if (engine === "runtime") {
    const runtime = await openEngine(model);
    return {
      sampler: runtime,
      instructionSet: "onnxruntime",
      async step(rows) {
        await runtime.forwardBackward(rows, defaultLoss);
        await runtime.optimStep(optim);
      },
    };
  }
  const device = new Device({ threads: defaultThreads() });
  const precision = engine === "kernels bf16" ? "bf16" : "f32";
  const lora = { rank: model.loraRank!, alpha: 2 * model.loraRank! };
  const policy = await loadPolicy(model.folder, { device, lora, seed: 1, precision });
  const trainer = new PolicyTrainer(policy, { memoryMiB: 1536 });
  return {
    sampler: new BatchSampler(policy.weights),
    instructionSet: device.instructionSet.name,
    async step(rows) {
      await trainer.forwardBackward(rows, defaultLoss);
      await trainer.optimStep(optim);
    },
  };
}

const repetitions = 3;

async function best(work: () => Promise<number>): Promise<number> {
  const found: number[] = [];
  for (let i = -1; i < repetitions; i++) {
    const value = await work();
    if (i >= 0) found.push(value);
  }
  return median(found);
}

answer(async (input: EngineInput): Promise<EngineOutput> => {
  const { model, trainingTokens, batches, sampledTokens } = input;
  const engine = await open(input);
  const [rowCount, tokens] = trainingTokens;
  const rows = makeRows(denseRows(rowCount, tokens), model.vocabSize);
  const training = await best(async () => {
    const start = performance.now();
    await engine.step(rows);
    return (1000 * rowCount * tokens) / (performance.now() - start);
  });
  const sampling: number[] = [];
  for (const batch of batches) {
    let round = 0;
    sampling.push(
      await best(async () => {
        const start = performance.now();
        round += 1;
        await Promise.all(
          Array.from({ length: batch }, (_, i) =>
            engine.sampler.sample({
              tokens: Int32Array.from(
                { length: 64 },
                (__, t) => (t * 7919 + i * 104729 + round) % 49_000,
              ),
              params: {
                temperature: 1,
                topP: 1,
                topK: 0,
                minP: 0,
                maxTokens: sampledTokens,
                stopTokenIds: [],
                seed: i,
              },
            }),
          ),
        );
        return (1000 * batch * sampledTokens) / (performance.now() - start);
      }),
    );
  }
  return { training, sampling, instructionSet: engine.instructionSet, peakMiB: peakMiB() };
});
