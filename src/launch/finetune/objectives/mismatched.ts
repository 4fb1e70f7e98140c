/**
 * Completions after prompts that they do not answer, from which KTO estimates how far the policy is from the
 * reference. As in TRL's KTOTrainer, completions move on by one within a batch.
 */
import type { Example, TokenRow } from "../examples/token-row.ts";
import type { Response } from "./row-logprobs.ts";

/** The prompt of one example, and the completion of another. */
export interface Mismatch {
  readonly prompt: Example;
  readonly completion: Example;
}

/** The batch in the order of the data, so that pairs of a full batch are the same in every epoch. */
export function mismatchesOf(
  batch: readonly Example[],
  order: ReadonlyMap<Example, number>,
): readonly Mismatch[] {
  const sorted = batch.toSorted((a, b) => order.get(a)! - order.get(b)!);
  return sorted.map((prompt, i) => ({ prompt, completion: sorted.at(i - 1)! }));
}

/** What is before the first trained token is the prompt; what does not fit is cut off. */
function join(prompt: TokenRow, completion: TokenRow, maxLength: number): TokenRow {
  const end = prompt.mask.indexOf(1);
  const start = completion.mask.indexOf(1);
  const length = Math.min(end + completion.mask.length - start, maxLength);
  const tokens = new Int32Array(length);
  const mask = new Uint8Array(length);
  tokens.set(prompt.tokens.subarray(0, end));
  tokens.set(completion.tokens.subarray(start, start + length - end), end);
  mask.set(completion.mask.subarray(start, start + length - end), end);
  return { tokens, mask };
}

/** As rows: a completion of several rows has the prompts of as many rows, the last one for those left over. */
export function mismatchedResponse({ prompt, completion }: Mismatch, maxLength: number): Response {
  const rows = completion.rows.map((row, i) =>
    join(prompt.rows[Math.min(i, prompt.rows.length - 1)]!, row, maxLength),
  );
  return { at: prompt.at, rows };
}
