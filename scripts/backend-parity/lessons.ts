/** What is taught in one step: rows and a loss, made with the log-probabilities of a backend as it starts. */
import type { TrainingBackend, UpdateMetrics } from "../../src/core/backend.ts";
import type { LossSpec, OptimSpec } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { unpaired } from "../../src/launch/finetune/objectives/unpaired.ts";
import { rowOf } from "../../test/engine/small-model.ts";

export interface Step {
  readonly rows: readonly TrainingRow[];
  readonly loss: LossSpec;
  /** What is compared, of the metrics of the update. */
  readonly losses: (metrics: UpdateMetrics) => readonly number[];
}

export interface Lesson {
  readonly name: string;
  /** Of `ModelSpec.adapters`. */
  readonly adapters?: readonly string[];
  /** `VerlRunOptions.critic` */
  readonly critic?: boolean;
  /** Each backend makes its own, from rows that are the same. */
  readonly prepare: (
    backend: TrainingBackend,
    rows: readonly TrainingRow[],
    optim: OptimSpec,
  ) => Step | Promise<Step>;
}

const ppoLoss: LossSpec = {
  name: "ppo",
  epsClip: 0.2,
  epsClipHigh: 0.28,
  aggregation: "token-mean",
};

/** Three rows of 12, 30 and 21 tokens; ratios on both sides of the bounds, advantages of both signs. */
export async function rowsFor(backend: TrainingBackend): Promise<readonly TrainingRow[]> {
  const bare = [12, 30, 21].map((length, r) => {
    const tokens = Int32Array.from({ length }, (_, i) => (i * 31 + r * 17) % 500);
    return rowOf(tokens, 3 + r, { advantage: [1, -0.7, 0.4][r]! });
  });
  const now = await backend.forward!(bare, "current");
  return bare.map((row, r) => ({
    ...row,
    samplingLogprobs: now[r]!.map((l, i) => (row.targetMask[i] === 1 ? l - 0.5 * Math.sin(i) : 0)),
  }));
}

const lossOnly = ({ loss }: UpdateMetrics): readonly number[] => [loss!];

export const ppo: Lesson = {
  name: "ppo",
  prepare: (_, rows) => ({ rows, loss: ppoLoss, losses: lossOnly }),
};

/** The second row is of a role with another adapter. */
export const adapters: Lesson = {
  name: "ppo, adapters of two roles",
  adapters: ["judge"],
  prepare: (_, rows) => ({
    rows: rows.map((row, r) => (r === 1 ? { ...row, adapter: "judge" } : row)),
    loss: ppoLoss,
    losses: lossOnly,
  }),
};

/** Both critics give 0 before they have learned, whatever else they are. */
export const critic: Lesson = {
  name: "ppo with a critic",
  critic: true,
  async prepare(backend, rows) {
    const values = await backend.values!(rows);
    const learned = rows.map((row, r) => ({
      ...row,
      values: values[r]!,
      returns: Float32Array.from(row.targetMask, (mask, i) => mask * Math.sin(i + r)),
    }));
    return {
      rows: learned,
      loss: {
        ...ppoLoss,
        critic: { learningRate: 1e-5, epochs: 1, clip: 0.5, isWarmup: false },
      },
      losses: ({ loss, value_loss: ofValues }) => [loss!, ofValues!],
    };
  },
};

/** The first and the last row were liked. A second step, since before the first all rewards are 0. */
export const kto: Lesson = {
  name: "KTO",
  async prepare(backend, rows, optim) {
    const examples = rows.map(({ tokens, targetMask: mask }, r) => ({
      at: `row ${r}`,
      rows: [{ tokens, mask }],
      rejected: null,
      label: r !== 1,
    }));
    const objective = await unpaired(backend, {
      weights: { beta: 0.1, desirableWeight: 1, undesirableWeight: 1.5 },
      train: examples,
      val: [],
      batches: [examples],
      batchSize: examples.length,
      maxLength: 512,
      signal: new AbortController().signal,
    });
    const first = await objective.prepare(examples);
    await backend.updatePolicy(first.rows, objective.loss, optim);
    const { rows: prepared, report } = await objective.prepare(examples);
    return {
      rows: prepared,
      loss: objective.loss,
      losses: (metrics) => lossOnly(report(metrics)),
    };
  },
};
