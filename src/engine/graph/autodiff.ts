/**
 * Reverse-mode differentiation of a graph into itself: the backward pass becomes nodes like any
 * other, so one run of the session gives the loss and its gradients.
 */
import { add, runtimeShape } from "./ops.ts";
import type { TapeEntry, Value } from "./graph.ts";

/** Gradients by name of value: `record` makes a tracked twin of a value under the same name. */
type Gradients = Map<string, Value>;

/** Walks a tape backwards; `known` holds the gradient of the tape's results, and receives the others. */
function walkBack(tape: readonly TapeEntry[], known: Gradients): void {
  for (const { outputs, inputs, vjp } of tape.toReversed()) {
    const ofOutputs = outputs.map(({ name }) => known.get(name));
    if (ofOutputs.every((gradient) => gradient === undefined)) continue;
    const contributions = vjp(ofOutputs);
    for (const [i, input] of inputs.entries()) {
      const contribution = contributions[i];
      if (!input.requiresGrad || contribution === null || contribution === undefined) continue;
      const sum = known.get(input.name);
      known.set(input.name, sum === undefined ? contribution : add(sum, contribution));
    }
  }
}

/**
 * Gradients of the sum of `loss` (a scalar) with respect to `targets`, in their order.
 * @throws Error when a target does not influence the loss.
 */
export function gradients(loss: Value, targets: readonly Value[]): readonly Value[] {
  const known: Gradients = new Map([[loss.name, loss.graph.scalar(1)]]);
  walkBack(loss.graph.tape, known);
  return targets.map((target) => {
    const gradient = known.get(target.name);
    if (gradient === undefined) throw new Error(`"${target.name}" does not influence the loss.`);
    return gradient;
  });
}

/** Values from outside a tape that its operations use and can pass gradients to. */
function leavesOf(tape: readonly TapeEntry[]): readonly Value[] {
  const made = new Set(tape.flatMap(({ outputs }) => outputs.map(({ name }) => name)));
  const leaves = new Map<string, Value>();
  for (const { inputs } of tape)
    for (const input of inputs)
      if (input.requiresGrad && !made.has(input.name)) leaves.set(input.name, input);
  return [...leaves.values()];
}

/**
 * `build(input)`, for which the backward pass keeps only `input`: intermediate values are recomputed
 * when the gradient arrives (arXiv:1604.06174). The result has the shape of `input`.
 */
export function checkpoint(input: Value, build: (input: Value) => Value): Value {
  const { graph } = input;
  const first = graph.apart(() => build(input));
  const leaves = leavesOf(first.tape);
  return graph.record({ ...first.value, requiresGrad: false }, leaves, (g) => {
    // A reshape to the gradient's shape changes nothing, but cannot run before the gradient is available:
    // otherwise the runtime would recompute everything at once, and keep it.
    const later = graph.node("Reshape", [input, runtimeShape(g)], input.shape);
    const again = { ...later, requiresGrad: input.requiresGrad };
    const { value, tape } = graph.apart(() => build(again));
    const known: Gradients = new Map([[value.name, g]]);
    walkBack(tape, known);
    return leaves.map(({ name }) => known.get(name === input.name ? again.name : name) ?? null);
  });
}
