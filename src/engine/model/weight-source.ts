/**
 * Where a graph's weights come from: trained ones are inputs, fed again at every run; frozen ones are
 * constants in a file that the runtime maps into memory, or inputs too when there is no such file.
 */
import type { LoraSpec } from "../../core/backend.ts";
import type { StoredTensor } from "../checkpoint/model-weights.ts";
import type { Graph, Value } from "../graph/graph.ts";
import { add, addProduct, matmul } from "../graph/ops.ts";
import { biasName, isAdapted, loraNames, type ParameterSpec } from "./parameters.ts";
import type { IntegerBase } from "./integer-base.ts";
import { integerProducts } from "./integer-products.ts";
import { declareQuantizedMatrix, type QuantizedMatrix } from "./quantized-matrix.ts";
import type { Weights } from "./transformer.ts";

export interface WeightSourceOptions {
  readonly base: readonly ParameterSpec[];
  readonly lora: LoraSpec | null;
  readonly loraParameters: readonly ParameterSpec[];
  /** Where the frozen base is stored on disk as 32-bit floats; null when it is passed as inputs. */
  readonly mapped: ReadonlyMap<string, StoredTensor> | null;
  /** Whether trained parameters (the base, or its LoRA factors) carry gradients. */
  readonly differentiate: boolean;
  /** Matrices that `linear` multiplies with as 8-bit integers instead. @default none */
  readonly quantized?: ReadonlyMap<string, QuantizedMatrix>;
  /** The frozen base's 8-bit integers, to multiply with. @default none */
  readonly integers?: IntegerBase | null;
}

/** Weights for one graph, and the names of parameters that must be fed at every run. */
export function declareWeights(
  graph: Graph,
  options: WeightSourceOptions,
): Weights & { readonly fed: readonly string[] } {
  const { lora, mapped, differentiate } = options;
  const values = new Map<string, Value>();
  const frozen = new Map<string, () => Value>();
  const fed: string[] = [];
  const feed = (spec: ParameterSpec, trained: boolean): void => {
    values.set(spec.name, graph.input(spec.name, "float32", spec.shape, trained && differentiate));
    fed.push(spec.name);
  };
  for (const spec of options.base) {
    const stored = mapped?.get(spec.name);
    if (stored === undefined) feed(spec, lora === null);
    // Only those that are needed: a matrix of integers replaces some.
    else frozen.set(spec.name, () => graph.constant("float32", spec.shape, stored));
  }
  for (const spec of options.loraParameters) feed(spec, true);
  const find = (name: string): Value | undefined => {
    const value = values.get(name) ?? frozen.get(name)?.();
    if (value !== undefined) values.set(name, value);
    return value;
  };
  const get = (name: string): Value => {
    const value = find(name);
    if (value === undefined) throw new Error(`The model has no parameter "${name}".`);
    return value;
  };
  const integerProduct = options.integers ? integerProducts(graph, options.integers) : null;
  const frozenProduct = (x: Value, name: string): Value => {
    const blocks = options.quantized?.get(name);
    if (blocks !== undefined) return declareQuantizedMatrix(graph, blocks).times(x);
    return integerProduct?.(x, name) ?? matmul(x, get(name), { transposeB: true });
  };
  return {
    fed,
    get,
    linear(x, name) {
      const product = frozenProduct(x, name);
      const bias = find(biasName(name));
      const y = bias === undefined ? product : add(product, bias);
      if (lora === null || !isAdapted(name, lora)) return y;
      const { a, b } = loraNames(name);
      const narrow = matmul(x, get(a), { transposeB: true });
      const alpha = lora.alpha / lora.rank;
      return addProduct(y, narrow, get(b), alpha);
    },
  };
}
