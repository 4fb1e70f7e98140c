/** Embeddings of tokens: rows of a table, or columns of a head's packed matrix. */
import type { Matrix } from "../matrix.ts";
import type { Program } from "../program.ts";
import type { Tensor } from "../tensor.ts";
import { checkIndices, checkShape } from "./check-shape.ts";

/** [vocabulary, width], as it is stored, or packed with depth `width`, as a tied head has it. */
export type EmbeddingTable = Tensor | Tensor<"bf16"> | Matrix;

/** x [tokens, width] = scale * table[ids]; ids [1, tokens]. @throws RangeError for an id that the table lacks */
export function embed(
  program: Program,
  ids: Tensor<"i32">,
  table: EmbeddingTable,
  x: Tensor,
  scale = 1,
): void {
  const isPacked = "panels" in table;
  const format = isPacked ? table.format : table.type;
  const vocabulary = isPacked ? table.columns : table.rows;
  const width = isPacked ? table.depth : table.columns;
  if (format === "i8" || (!isPacked && !table.isContiguous))
    throw new RangeError("An embedding table is contiguous, in f32 or bf16.");
  if (x.columns !== width)
    throw new RangeError(`Embeddings of width ${width} do not fit [${x.rows}, ${x.columns}].`);
  checkIndices("The ids", ids, x.rows, vocabulary);
  const kind = (isPacked ? 2 : 0) + (format === "bf16" ? 1 : 0);
  const data = isPacked ? table.panels : table;
  program.add("embed", x.rows, x.columns, vocabulary, ids, data, kind, x, x.stride, scale);
}

/** gradient [vocabulary, width] += scale * dx at each token's id, in the order of tokens. */
export function embedBackward(
  program: Program,
  ids: Tensor<"i32">,
  dx: Tensor,
  gradient: Tensor,
  scale = 1,
): void {
  checkShape("The table's gradient", gradient, gradient.rows, dx.columns);
  checkIndices("The ids", ids, dx.rows, gradient.rows);
  if (!gradient.isContiguous) throw new RangeError("A table's gradient is contiguous.");
  program.add("embed_backward", dx.rows, dx.columns, ids, dx, dx.stride, gradient, scale);
}
