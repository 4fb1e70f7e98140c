/**
 * Where a graph's weights come from: trained ones are inputs, fed anew at every run; frozen ones are
 * constants in a file that the runtime maps into memory, or inputs too when there is no such file.
 */
import type { LoraSpec } from "../../core/backend.ts";
import type { TensorEntry } from "../checkpoint/safetensors.ts";
import type { Graph, Value } from "../graph/graph.ts";
import { add, matmul, scale } from "../graph/ops.ts";
import { isAdapted, loraNames } from "./parameters.ts";
import type { ParameterSpec } from "./parameters.ts";
import type { Weights } from "./transformer.ts";

/** A safetensors file whose 32-bit tensors can be used in place. */
export interface MappedFile {
  readonly name: string;
  readonly entries: ReadonlyMap<string, TensorEntry>;
}

export interface WeightSourceOptions {
  readonly base: readonly ParameterSpec[];
  readonly lora: LoraSpec | null;
  readonly loraParameters: readonly ParameterSpec[];
  /** The base model's file; without it the base comes in as inputs. Ignored when the base is trained. */
  readonly mapped: MappedFile | null;
  /** Whether trained parameters (the base, or its LoRA factors) carry gradients. */
  readonly differentiate: boolean;
}

/** Weights for one graph, and the names of parameters that must be fed at every run. */
export function declareWeights(
  graph: Graph,
  options: WeightSourceOptions,
): Weights & { readonly fed: readonly string[] } {
  const { lora, mapped, differentiate } = options;
  const values = new Map<string, Value>();
  const fed: string[] = [];
  const feed = (spec: ParameterSpec, trained: boolean): void => {
    values.set(spec.name, graph.input(spec.name, "float32", spec.shape, trained && differentiate));
    fed.push(spec.name);
  };
  for (const spec of options.base) {
    const entry = lora === null ? undefined : mapped?.entries.get(spec.name);
    if (mapped !== null && entry?.dtype === "F32") {
      const data = { file: mapped.name, offset: entry.offset, length: entry.length };
      values.set(spec.name, graph.constant("float32", spec.shape, data));
    } else {
      feed(spec, lora === null);
    }
  }
  for (const spec of options.loraParameters) feed(spec, true);
  const get = (name: string): Value => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`The model has no parameter "${name}".`);
    return value;
  };
  return {
    fed,
    get,
    linear(x, name) {
      const y = matmul(x, get(name), { transposeB: true });
      if (lora === null || !isAdapted(name)) return y;
      const { a, b } = loraNames(name);
      const update = matmul(matmul(x, get(a), { transposeB: true }), get(b), { transposeB: true });
      return add(y, scale(update, lora.alpha / lora.rank));
    },
  };
}
