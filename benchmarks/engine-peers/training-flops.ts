/** Floating-point operations of one LoRA training step, from its matrix products alone. */
import type { smolConfig } from "../engine/models.ts";

type Shape = Pick<
  typeof smolConfig,
  | "vocab_size"
  | "hidden_size"
  | "num_hidden_layers"
  | "num_attention_heads"
  | "num_key_value_heads"
  | "head_dim"
  | "intermediate_size"
>;

export interface StepSize {
  readonly rows: number;
  readonly tokens: number;
  readonly loraRank: number;
}

/**
 * A product of [m, k] and [k, n] is 2 m k n. Frozen matrices are passed forwards and backwards; factors
 * and attention have two products more backwards, one for each side. Masked scores count: they are
 * computed. Norms, softmax and the optimizer are left out.
 */
export function trainingFlops(shape: Shape, { rows, tokens, loraRank }: StepSize): number {
  const hidden = shape.hidden_size;
  const queries = shape.num_attention_heads * shape.head_dim;
  const keys = shape.num_key_value_heads * shape.head_dim;
  const matrices = [
    [queries, hidden],
    [keys, hidden],
    [keys, hidden],
    [hidden, queries],
    [shape.intermediate_size, hidden],
    [shape.intermediate_size, hidden],
    [hidden, shape.intermediate_size],
  ] as const;
  const frozen = matrices.reduce((sum, [out, into]) => sum + 2 * 2 * out * into, 0);
  const factors = matrices.reduce((sum, [out, into]) => sum + 3 * 2 * loraRank * (out + into), 0);
  // The last token of a row is only predicted.
  const read = tokens - 1;
  const attention = 3 * 2 * 2 * queries * read;
  const layers = shape.num_hidden_layers * (frozen + factors + attention);
  const head = 2 * 2 * hidden * shape.vocab_size;
  return rows * read * (layers + head);
}
