/** Linear layers of a graph through the 8-bit integers of a frozen base. */
import type { Graph, Value } from "../graph/graph.ts";
import {
  backwardProduct,
  forwardProduct,
  joinColumns,
  splitColumns,
  type IntegerMatrix,
} from "../graph/integer-product.ts";
import { detach } from "../graph/ops.ts";
import { declareIntegers, type IntegerBase, type IntegerGroup } from "./integer-base.ts";

/**
 * The product of x with a layer's matrix; null for what is not part of the integers. Layers that share an
 * input share one product, made for the first of them.
 */
export function integerProducts(
  graph: Graph,
  base: IntegerBase,
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
    const products = splitColumns(forwardProduct(detach(x), matrixOf(group)), widths);
    const tracked = graph.recordAll(products, [x], (gradients) => [
      backwardProduct(joinColumns(graph, gradients, widths), matrixOf(group)),
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
