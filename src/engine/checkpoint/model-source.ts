/**
 * A model on disk, whatever its format: its configuration, its tensors under Hugging Face names, and
 * their values as 32-bit floats.
 */
import type { StoredTensor } from "./model-weights.ts";

export interface SourceTensor {
  /** As the file names it: `F32`, `BF16`, `Q4_K` ... */
  readonly type: string;
  /** Row-major. */
  readonly shape: readonly number[];
  /** On disk. */
  readonly length: number;
}

export interface ModelSource {
  readonly format: "safetensors" | "gguf";
  /** The folder or file, for messages. */
  readonly path: string;
  /** The content of `config.json`, or its equivalent. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Where `config` was read, for messages. */
  readonly configFile: string;
  /** By Hugging Face name. */
  readonly tensors: ReadonlyMap<string, SourceTensor>;
  /** Set where frozen weights can be used in place. */
  readonly files: ReadonlyMap<string, StoredTensor> | null;
  /** The named tensors, yielded as they are read; only one is in memory at a time. */
  read(names: readonly string[]): AsyncIterable<readonly [name: string, data: Float32Array]>;
}
