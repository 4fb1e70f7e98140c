/** The k largest log-probabilities with their ids, ties to the smaller id. */
export function mostLikely(logprobs: Float32Array, k: number): [number, number][] {
  const order = Array.from(logprobs.keys()).toSorted(
    (a, b) => logprobs[b]! - logprobs[a]! || a - b,
  );
  return order.slice(0, k).map((id) => [id, logprobs[id]!]);
}
