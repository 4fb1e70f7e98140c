/** A backend that takes no time: it draws the same tokens at once and learns nothing. */
import { capabilityMatrix } from "../../src/core/capabilities.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";

/** Letters, as a byte-level model would draw them; no stop token, so answers end at the limit. */
function letters(count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => 97 + ((i * 7) % 26));
}

/** Answers of `tokens` tokens. */
export function instantBackend(tokens: number): TrainingBackend {
  let version = 0;
  const sampled = letters(tokens);
  return {
    name: "instant",
    capabilities: capabilityMatrix.local,
    start: () =>
      Promise.resolve(
        createScriptedTarget(() => sampled, { weightVersion: () => version, chunkSize: tokens }),
      ),
    updatePolicy: () => Promise.resolve({ loss: 0 }),
    publishWeights: () => Promise.resolve(++version),
    saveState: () => Promise.resolve(),
    loadState: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
