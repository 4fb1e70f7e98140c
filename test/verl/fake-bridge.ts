/** The `verl` backend with the toy policy of `python/tests/fake/`, which needs Python and no package. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  createVerlBackend,
  type VerlBackend,
  type VerlBackendOptions,
} from "../../src/backends/verl/index.ts";
import { defaultOptim, type LossSpec } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { createByteRenderer } from "../../src/testing/index.ts";

const probe = "import sys; sys.exit(sys.version_info < (3, 10))";

/** Whether there is a Python that can run the bridge. */
export const hasPython: boolean = spawnSync("python3", ["-c", probe]).status === 0;
if (!hasPython) console.warn("No python3 of at least 3.10: the tests of the bridge are skipped.");

export const fakeRun: VerlBackendOptions["run"] = {
  optim: { ...defaultOptim, learningRate: 0.1 },
  batchSize: 4,
  groupSize: 8,
  temperature: 1,
  topP: 1,
  topK: 0,
  maxTokens: 1,
};

/** The bridge's name for the toy policy. */
export const fakeEngine = "tests.fake.engine:FakeEngine";

/** Environment variables with which a bridge has the toy policy as its engine. */
export const fakeEnv: Readonly<Record<string, string>> = {
  AGENT_TRAINER_BRIDGE_ENGINE: fakeEngine,
  PYTHONPATH: fileURLToPath(new URL("../../python/", import.meta.url)),
};

/** The toy policy reads no model, but the backend looks for the folder. */
export const modelFolder: string = fileURLToPath(
  new URL("../../models/shop-tiny", import.meta.url),
);

export function fakeBackend(options: Partial<VerlBackendOptions> = {}): VerlBackend {
  return createVerlBackend({
    run: fakeRun,
    env: fakeEnv,
    renderer: createByteRenderer(),
    ...options,
  });
}

export const runContext = {
  seed: 1,
  model: { name: modelFolder, lora: null },
  signal: new AbortController().signal,
};

export const ppo: LossSpec = {
  name: "ppo",
  epsClip: 0.2,
  epsClipHigh: 0.2,
  aggregation: "token-mean",
};

export interface PlainRow {
  readonly tokens: readonly number[];
  /** Of the tokens from `from` on. */
  readonly logprobs: readonly number[];
  readonly advantage: number;
}

/** A row whose last tokens are trained. */
export function rowOf({ tokens, logprobs, advantage }: PlainRow): TrainingRow {
  const from = tokens.length - logprobs.length;
  const place = (at: number): boolean => at >= from;
  return {
    tokens: Int32Array.from(tokens),
    targetMask: Uint8Array.from(tokens, (_, at) => (place(at) ? 1 : 0)),
    samplingLogprobs: Float32Array.from(tokens, (_, at) => logprobs[at - from] ?? 0),
    advantages: Float32Array.from(tokens, (_, at) => (place(at) ? advantage : 0)),
    segments: [],
    provenance: {
      taskId: "t",
      episodeId: "e",
      rolloutIndex: 0,
      trajectoryUid: "u",
      trajectoryName: "default",
    },
  };
}
