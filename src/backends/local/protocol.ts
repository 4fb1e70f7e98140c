/** Messages between the backend and the worker thread that computes. */
import type { LoraSpec, Quantization, WhichWeights } from "../../core/backend.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import type { Sample, SampleChunk, SamplingParams } from "../../core/policy.ts";
import type { PrecisionOption } from "../../core/precision.ts";
import type { MomentPrecision } from "../../engine/optimizer/moments.ts";
import type { ReadySchemas } from "../../engine/logit-rules/ready-schemas.ts";
import type { QuantizationDistance } from "../../engine/quantization-distance.ts";
import type { UpdateLimits } from "../../core/loss/update-limits.ts";
import type { RowMessage } from "./row-message.ts";

interface LoadedModel {
  readonly contextLength: number;
  /** Null without quantization. */
  readonly quantizationDistance: QuantizationDistance | null;
  /** What a user should know of how it computes, in a sentence each. */
  readonly warnings: readonly string[];
}

/** Rows, and the schemas of their rules, compiled. */
export interface RowsInput {
  readonly rows: RowMessage;
  readonly schemas: ReadySchemas;
}

/** Calls that the worker accepts; each gets one response. */
export interface WorkerCalls {
  load: (options: {
    /** A model folder or a `.gguf` file. */
    path: string;
    /** Name of the model outside of this machine, or its path. */
    name: string;
    lora: LoraSpec | null;
    /** Adapters besides the model's own. */
    adapters: readonly string[];
    /** Nothing is trained. */
    isFrozen: boolean;
    quantization: Quantization;
    /** Continued to measure what quantization changes; none: it is not measured. */
    probes: readonly Int32Array[];
    seed: number;
    threads: number;
    precision: PrecisionOption;
    trainingMemoryMiB: number;
    cacheMemoryMiB?: number;
    momentPrecision: MomentPrecision;
  }) => LoadedModel;
  sample: (request: {
    tokens: Int32Array;
    params: SamplingParams;
    /** Those of `params.rules`, compiled. */
    schemas: ReadySchemas;
    n: number;
    adapter?: string | null;
    /** Send chunks while sampling. */
    stream: boolean;
  }) => readonly Sample[];
  forward: (request: RowsInput & { which: WhichWeights }) => readonly Float32Array[];
  entropies: (request: RowsInput) => readonly Float32Array[];
  values: (request: RowsInput) => readonly Float32Array[];
  update: (
    request: RowsInput & { loss: LossSpec; optim: OptimSpec; limits: UpdateLimits | undefined },
  ) => Record<string, number>;
  publish: (version: number | null) => number;
  save: (folder: string) => null;
  restore: (request: { folder: string; version: number }) => null;
  totals: (none: null) => { tokens: number; busyMs: number };
  close: (none: null) => null;
}

export type CallName = keyof WorkerCalls;

export type ToWorker =
  | { readonly kind: "call"; readonly id: number; readonly name: CallName; readonly input: unknown }
  | { readonly kind: "cancel"; readonly id: number };

export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: ErrorCode;
  readonly hint?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export type FromWorker =
  | { readonly kind: "result"; readonly id: number; readonly output: unknown }
  | { readonly kind: "error"; readonly id: number; readonly error: WireError }
  | { readonly kind: "chunk"; readonly id: number; readonly chunk: SampleChunk };
