/**
 * Reverse-mode differentiation of a graph into itself: the backward pass becomes nodes like any
 * other, so one run of the session gives the loss and its gradients.
 */
import { add } from "./ops.ts";
import type { Value } from "./graph.ts";

/**
 * Gradients of the sum of `loss` (a scalar) with respect to `targets`, in their order.
 * @throws Error when a target does not influence the loss.
 */
export function gradients(loss: Value, targets: readonly Value[]): readonly Value[] {
  const graph = loss.graph;
  // Keyed by name: `record` makes a tracked twin of a value under the same name.
  const byName = new Map<string, Value>([[loss.name, graph.scalar(1)]]);
  for (const { output, inputs, vjp } of graph.reversedTape()) {
    const gradient = byName.get(output.name);
    if (gradient === undefined) continue;
    const contributions = vjp(gradient);
    for (const [i, input] of inputs.entries()) {
      const contribution = contributions[i];
      if (!input.requiresGrad || contribution === null || contribution === undefined) continue;
      const sum = byName.get(input.name);
      byName.set(input.name, sum === undefined ? contribution : add(sum, contribution));
    }
  }
  return targets.map((target) => {
    const gradient = byName.get(target.name);
    if (gradient === undefined) throw new Error(`"${target.name}" does not influence the loss.`);
    return gradient;
  });
}
