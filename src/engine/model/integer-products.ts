/** Linear layers of a graph through the 8-bit integers of a frozen base, forward, backward or both. */
import type { Graph, Value } from "../graph/graph.ts";
import {
  backwardProduct,
  forwardProduct,
  joinColumns,
  splitColumns,
  type IntegerMatrix,
} from "../graph/integer-product.ts";
import { add, detach, matmul } from "../graph/ops.ts";
import { declareIntegers, type IntegerBase, type IntegerGroup } from "./integer-base.ts";

export interface IntegerUse {
  readonly base: IntegerBase;
  /** The others are computed with the same matrices in 32-bit floats. */
  readonly forward: boolean;
  readonly backward: boolean;
}

/**
 * The product of x with a layer's matrix; null for what is not part of the integers. Layers that share an
 * input share one product, made for the first of them.
 */
export function integerProducts(
  graph: Graph,
  { base, forward, backward }: IntegerUse,
  get: (name: string) => Value,
): (x: Value, name: string) => Value | null {
  const declared = new Map<IntegerGroup, IntegerMatrix>();
  const made = new Map<string, ReadonlyMap<string, Value>>();
  const matrixOf = (group: IntegerGroup): IntegerMatrix => {
    const matrix = declared.get(group) ?? declareIntegers(graph, base.kernel, group);
    declared.set(group, matrix);
    return matrix;
  };
  const productsOf = (x: Value, group: IntegerGroup): ReadonlyMap<string, Value> => {
    const { names, widths } = group;
    const input = detach(x);
    const products = forward
      ? splitColumns(forwardProduct(input, matrixOf(group)), widths)
      : names.map((name) => matmul(input, get(name), { transposeB: true }));
    const tracked = graph.recordAll(products, [x], (gradients) => [
      backward
        ? backwardProduct(joinColumns(graph, gradients, widths), matrixOf(group))
        : gradients
            .flatMap((g, i) => (g === undefined ? [] : [matmul(g, get(names[i]!))]))
            .reduce((sum, g) => add(sum, g)),
    ]);
    return new Map(names.map((name, i) => [name, tracked[i]!]));
  };
  return (x, name) => {
    const group = base.groups.get(name);
    if (group === undefined) return null;
    const key = `${x.name} ${group.names[0]}`;
    const products = made.get(key) ?? productsOf(x, group);
    made.set(key, products);
    return products.get(name)!;
  };
}
