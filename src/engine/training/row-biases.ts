/**
 * What rules of rows add to the logits of their tokens, found by replaying each completion through the same
 * rules that sampled it. Tokens at the same place of a grammar share one row of the table.
 */
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { LogitRuleCompiler } from "../logit-rules/compiler.ts";
import { writeBias, type LogitBias } from "../logit-rules/rule-state.ts";
import type { Tensor } from "../runtime.ts";

/** The table of one micro-batch; its first row is all 0. */
export interface BiasTable {
  /** Token t of the batch is the one at `position` of row `row`. */
  set(t: number, row: number, position: number): void;
  inputs(): Readonly<Record<"bias_rows" | "bias_of", Tensor>>;
}

export interface RowBiases {
  /** @param tokens of the batch, with padding */
  table(tokens: number): BiasTable;
}

/** Null where no row has rules. */
export function findRowBiases(
  rows: readonly TrainingRow[],
  rules: LogitRuleCompiler,
): RowBiases | null {
  if (rows.every((row) => row.rules === undefined)) return null;
  const biases = rows.map((row) => biasesOf(row, rules));
  const size = rules.size;
  return {
    table(tokens) {
      const of = new BigInt64Array(tokens);
      const places = new Map<unknown, Map<number, bigint>>();
      const distinct: { readonly bias: LogitBias; readonly scale: number }[] = [];
      return {
        set(t, row, position) {
          const bias = biases[row]!.get(position);
          if (bias === undefined) return;
          const scale = 1 / (rows[row]!.temperature ?? 1);
          // Masks are found once each; what is added to single tokens is not.
          const key = bias.added.size === 0 ? bias.mask : bias;
          const own = places.get(key) ?? new Map<number, bigint>();
          places.set(key, own);
          let place = own.get(scale);
          if (place === undefined) {
            place = BigInt(distinct.push({ bias, scale }));
            own.set(scale, place);
          }
          of[t] = place;
        },
        inputs() {
          const data = new Float32Array((distinct.length + 1) * size);
          for (const [i, { bias, scale }] of distinct.entries())
            writeBias(data.subarray((i + 1) * size, (i + 2) * size), bias, scale);
          return {
            bias_rows: { data, shape: [distinct.length + 1, size] },
            bias_of: { data: of, shape: [tokens] },
          };
        },
      };
    },
  };
}

/** By position in the row; nothing where the logits stay as they are. */
export function biasesOf(
  row: TrainingRow,
  compiler: LogitRuleCompiler,
): ReadonlyMap<number, LogitBias> {
  const found = new Map<number, LogitBias>();
  for (const { start, end, rules, maxTokens, stopTokenIds } of row.rules ?? []) {
    const state = compiler.compile(rules).start({ maxTokens, stopTokenIds });
    for (let at = start; at < end; at++) {
      const bias = state.bias();
      if (bias !== null) found.set(at, bias);
      state.accept(row.tokens[at]!);
    }
  }
  return found;
}
