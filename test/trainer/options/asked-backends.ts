/** Real backends on small models, and rows to ask them with what they do. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rowLossOf } from "../../../src/core/loss/row-losses.ts";
import { createLocalBackend } from "../../../src/backends/local/index.ts";
import { createFireworksBackend } from "../../../src/backends/fireworks/index.ts";
import { createTinkerBackend } from "../../../src/backends/tinker/index.ts";
import { rowFactors } from "../../../src/core/loss/aggregation.ts";
import type {
  InferenceTarget,
  LoraSpec,
  Quantization,
  TrainingBackend,
  UpdateMetrics,
} from "../../../src/core/backend.ts";
import {
  defaultLoss,
  defaultOptim,
  type LossSpec,
  type OptimSpec,
} from "../../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../../src/core/loss/training-row.ts";
import type { TrainConfig } from "../../../src/config/train-config.ts";
import { planLoss } from "../../../src/trainer/update/update-spec.ts";
import { updateWithTrainerLoss } from "../../../src/trainer/update/trainer-loss.ts";
import { rowOf } from "../../engine/small-model.ts";
import { baseModel, key, startFireworks } from "../../fireworks/local-fireworks.ts";
import { fetchOf, modelPath, startServer, token } from "../../tinker/local-server.ts";
import { fakeBackend, fakeRun, modelFolder } from "../../verl/fake-bridge.ts";

export interface Asked extends AsyncDisposable {
  readonly name: "local" | "tinker" | "fireworks" | "verl";
  readonly backend: TrainingBackend;
  readonly target: InferenceTarget;
  /** Ratios on both sides of every bound, advantages of both signs. */
  readonly rows: readonly TrainingRow[];
  /** Another one of the same kind, started with this adapter. */
  startWith(
    lora: LoraSpec | null,
    quantization?: Quantization,
    adapters?: readonly string[],
  ): Promise<void>;
}

export const still: OptimSpec = { ...defaultOptim, learningRate: 0 };
const lora: LoraSpec = { rank: 4, alpha: 32 };
const context = { seed: 5, signal: new AbortController().signal };

const runOf = (
  name: string,
  adapter: LoraSpec | null,
  quantization: Quantization = "none",
  adapters: readonly string[] = [],
) => ({
  ...context,
  model: { name, lora: adapter, quantization, adapters },
});

/** Away from the reference, and rows whose sampling weights were others. */
async function prepared(backend: TrainingBackend, trained: string): Promise<TrainingRow[]> {
  const bare = [12, 30, 21].map((length, r) => {
    const tokens = Int32Array.from({ length }, (_, i) => (i * 31 + r * 17) % 200);
    return rowOf(tokens, 3 + r, { advantage: [1, -0.7, 0.4][r]! });
  });
  for (let step = 0; step < 2; step++) {
    const now = await backend.forward!(bare, "current");
    const rows = bare.map((row, r) => ({ ...row, samplingLogprobs: now[r]! }));
    const optim = trained === "verl" ? fakeRun.optim : { ...defaultOptim, learningRate: 0.01 };
    await backend.updatePolicy(rows, { ...defaultLoss, name: "importance_sampling" }, optim);
  }
  const now = await backend.forward!(bare, "current");
  return bare.map((row, r) => ({
    ...row,
    samplingLogprobs: now[r]!.map((l, i) => (row.targetMask[i] === 1 ? l - 0.5 * Math.sin(i) : 0)),
  }));
}

export async function askLocal(): Promise<Asked> {
  const backend = createLocalBackend({ threads: 1 });
  const target = await backend.start(runOf(modelPath, lora));
  return {
    name: "local",
    backend,
    target,
    rows: await prepared(backend, "local"),
    async startWith(...model) {
      await using other = createLocalBackend({ threads: 1 });
      await other.start(runOf(modelPath, ...model));
    },
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}

export async function askTinker(): Promise<Asked> {
  const served = await startServer();
  const make = () =>
    createTinkerBackend({
      baseUrl: "http://tinker.test",
      apiKey: token,
      tokenizer: modelPath,
      client: { fetch: fetchOf(served.server) },
    });
  const backend = make();
  const target = await backend.start(runOf("shop-tiny", lora));
  return {
    name: "tinker",
    backend,
    target,
    rows: await prepared(backend, "tinker"),
    async startWith(...model) {
      await using other = make();
      await other.start(runOf("shop-tiny", ...model));
    },
    async [Symbol.asyncDispose]() {
      await backend[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

export async function askFireworks(): Promise<Asked> {
  const served = await startFireworks();
  const make = () =>
    createFireworksBackend({
      baseUrl: "http://fireworks.test",
      apiKey: key,
      account: "local",
      tokenizer: modelPath,
      contextLength: 512,
      trainUnembed: false,
      client: { fetch: fetchOf(served.server) },
    });
  const backend = make();
  const target = await backend.start(runOf(baseModel, lora));
  return {
    name: "fireworks",
    backend,
    target,
    rows: await prepared(backend, "fireworks"),
    async startWith(...model) {
      await using other = make();
      await other.start(runOf(baseModel, ...model));
    },
    async [Symbol.asyncDispose]() {
      await backend[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

/** The toy policy in Python: its protocol is verl's, and it has two of the losses. */
export async function askVerl(): Promise<Asked> {
  const backend = fakeBackend({ run: { ...fakeRun, reference: true, critic: true } });
  const target = await backend.start({ ...context, model: { name: modelFolder, lora: null } });
  return {
    name: "verl",
    backend,
    target,
    rows: await prepared(backend, "verl"),
    startWith: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}

/** One update as the trainer would ask for it, without moving the weights. */
export async function updateAsAsked(
  { backend, name, rows }: Asked,
  config: TrainConfig,
  optim: OptimSpec = still,
): Promise<UpdateMetrics> {
  const { spec, byRole } = planLoss(config, backend.capabilities, new Map());
  const own = name === "verl" ? { ...fakeRun.optim, learningRate: optim.learningRate } : optim;
  return byRole === null
    ? backend.updatePolicy(rows, spec, own)
    : updateWithTrainerLoss(backend, rows, { spec, lossOfRole: byRole }, own);
}

/** The loss by the formulas in numbers, from the log-probabilities that the backend gives. */
export async function lossByHand({ backend, rows }: Asked, spec: LossSpec): Promise<number> {
  const now = await backend.forward!(rows, "current");
  const factors = rowFactors(rows, spec.aggregation, spec.aggregationLength);
  const loss = rowLossOf(spec.name, spec);
  return rows.reduce((total, row, r) => {
    const at = [...row.targetMask.keys()].filter((i) => row.targetMask[i] === 1);
    const pick = (of: ArrayLike<number>) => Float64Array.from(at, (i) => of[i]!);
    const { terms } = loss({
      role: "agent",
      logprobs: pick(now[r]!),
      samplingLogprobs: pick(row.samplingLogprobs),
      advantages: pick(row.advantages),
      weights: new Float64Array(at.length).fill(1),
    });
    return total + factors[r]! * terms.reduce((sum, term) => sum + term, 0);
  }, 0);
}

/** Losses that the bridge has for verl itself. */
export function lossesOfBridge(): readonly string[] {
  const file = new URL(
    "../../../python/agent_trainer_bridge/verl_engine/token_losses.py",
    import.meta.url,
  );
  const [, table = ""] = /\n\w+[^\n]*= \{\n([\s\S]*?)\n\}/u.exec(readFileSync(file, "utf8")) ?? [];
  return [...table.matchAll(/"(\w+)":/gu)].map(([, name]) => name!);
}

export const newFolder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-asked-"));
