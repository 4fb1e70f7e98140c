/**
 * Which nodes of a graph to write, and in which order. Dead nodes would be computed anyway, and
 * the order decides how long the inputs of a node have to be kept.
 */
import type { NodeSpec } from "../onnx/model.ts";
import { addTo } from "../../util/group-by.ts";

/** What a node reads, including inside a loop's body. */
function readsOf(node: NodeSpec): readonly string[] {
  const inner = Object.values(node.attributes).flatMap((attribute) =>
    typeof attribute === "object" && "graph" in attribute
      ? attribute.graph.nodes.flatMap(readsOf)
      : [],
  );
  return [...node.inputs, ...inner];
}

/** Nodes that an output needs, in their order. */
export function liveNodes(
  nodes: readonly NodeSpec[],
  outputs: readonly string[],
): readonly NodeSpec[] {
  const needed = new Set(outputs);
  const live: NodeSpec[] = [];
  for (const node of nodes.toReversed()) {
    if (!node.outputs.some((name) => needed.has(name))) continue;
    live.push(node);
    for (const name of readsOf(node)) needed.add(name);
  }
  return live.toReversed();
}

/**
 * The same nodes, with those that only outputs depend on moved to the end, latest first. The
 * runtime starts from the last such node and computes what it needs, then goes to the one before: so
 * gradients of a layer's weights are computed while its inputs are available, not after all other layers.
 */
export function lastThingsLast(
  nodes: readonly NodeSpec[],
  outputs: readonly string[],
): readonly NodeSpec[] {
  const ends = new Set(outputs);
  const readers = new Map<string, NodeSpec[]>();
  for (const node of nodes) for (const name of readsOf(node)) addTo(readers, name, node);
  const isLast = (node: NodeSpec): boolean =>
    node.outputs.every((name) => {
      const next = readers.get(name) ?? [];
      return next.every((reader) => reader.outputs.every((output) => ends.has(output)));
    });
  const last = nodes.filter(isLast);
  const isOutput = (node: NodeSpec): boolean => node.outputs.every((name) => ends.has(name));
  const made = new Map(nodes.map((node, i) => [node.outputs[0]!, i]));
  // An output's own node stays with the node that it copies.
  const age = (node: NodeSpec): number =>
    isOutput(node) ? (made.get(node.inputs[0]!) ?? -1) : made.get(node.outputs[0]!)!;
  const ordered = last.toSorted((a, b) => age(b) - age(a));
  return [
    ...nodes.filter((node) => !isLast(node)),
    ...ordered.filter((node) => !isOutput(node)),
    ...ordered.filter(isOutput),
  ];
}
