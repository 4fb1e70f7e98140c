/**
 * Converts rows to datums. Services sum token losses, so the factors of the aggregation go into
 * advantages or weights; a server that averages is compensated for.
 */
import { countTargets, rowFactors } from "../../core/loss/aggregation.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { createFloatTensor, createIdTensor } from "../../tinker-api/codec/tensor.ts";
import type { Datum } from "../../tinker-api/messages.ts";
import { TinkerError } from "../../tinker-api/tinker-error.ts";
import type { ServerTraits } from "./server-traits.ts";

export interface PreparedBatch {
  readonly data: readonly Datum[];
  /** Index of each datum's row. */
  readonly rowOf: readonly number[];
}

/** @param penalties [row][length] to subtract from weight times advantage. @default none */
export function makeDatums(
  rows: readonly TrainingRow[],
  loss: LossSpec,
  traits: ServerTraits,
  penalties?: readonly Float32Array[],
): PreparedBatch {
  const factors = rowFactors(rows, loss.aggregation, loss.aggregationLength);
  const rowOf = [...rows.keys()].filter((i) => countTargets(rows[i]!) > 0);
  const data = rowOf.map((i) => {
    const row = rows[i]!;
    const scale = factors[i]! * compensation(row, rowOf.length, traits);
    return toDatum(row, loss, traits, { scale, penalties: penalties?.[i] ?? null });
  });
  if (loss.name === "cross_entropy") checkWeights(rows, loss, traits);
  return { data, rowOf };
}

/** Turns a mean over positions and sequences into the requested sum. */
function compensation(row: TrainingRow, datums: number, { reduction }: ServerTraits): number {
  return reduction === "sum" ? 1 : (row.tokens.length - 1) * datums;
}

/** A server that divides by the sum of the weights supports only one mean, whatever their size. */
function checkWeights(
  rows: readonly TrainingRow[],
  { aggregation }: LossSpec,
  { reduction }: ServerTraits,
): void {
  const isPlain = rows.every(({ weights }) => weights?.every((w) => w === 1) ?? true);
  if (reduction === "sum" || (aggregation === "seq-mean-token-mean" && isPlain)) return;
  throw new TinkerError({
    message: `This server divides cross_entropy by the weights of each sequence, so it cannot do ${aggregation}.`,
    hint: "Set algorithm.aggregation=seq-mean-token-mean, without weights, or use another server.",
    fields: { aggregation, reduction },
  });
}

function toDatum(
  row: TrainingRow,
  loss: LossSpec,
  { weighsPolicyLosses }: ServerTraits,
  { scale, penalties }: { readonly scale: number; readonly penalties: Float32Array | null },
): Datum {
  const { tokens, targetMask, samplingLogprobs } = row;
  const size = tokens.length - 1;
  const perToken = (value: (position: number) => number): Float32Array =>
    Float32Array.from({ length: size }, (_, i) => (targetMask[i + 1] === 1 ? value(i + 1) : 0));
  const rowWeight = (position: number): number => row.weights?.[position] ?? 1;
  const weight = (position: number): number => scale * rowWeight(position);
  const penaltyOf = (position: number): number => penalties?.[position] ?? 0;
  const targets = createIdTensor(tokens.slice(1));
  const input = tokens.slice(0, size);
  if (loss.name === "cross_entropy") {
    const weights = createFloatTensor(perToken((i) => scale * (rowWeight(i) - penaltyOf(i))));
    return { tokens: input, lossInputs: { target_tokens: targets, weights } };
  }
  const logprobs = createFloatTensor(perToken((position) => samplingLogprobs[position]!));
  if (loss.name === "dro") {
    // Its quadratic term ignores advantages, so prompts would count without weights.
    if (!weighsPolicyLosses)
      throw new TinkerError({
        message: "This server's dro has no weights, so it would pull prompts towards 0, too.",
        hint: "Choose another algorithm.loss, or another server.",
      });
    return {
      tokens: input,
      lossInputs: {
        target_tokens: targets,
        logprobs,
        // Weighted like the advantages; where no other weight applies, there is no penalty either.
        advantages: createFloatTensor(
          perToken((i) => row.advantages[i]! - penaltyOf(i) / (rowWeight(i) || Infinity)),
        ),
        weights: createFloatTensor(perToken(weight)),
      },
    };
  }
  const scaled = perToken((i) => scale * (rowWeight(i) * row.advantages[i]! - penaltyOf(i)));
  return {
    tokens: input,
    lossInputs: { target_tokens: targets, logprobs, advantages: createFloatTensor(scaled) },
  };
}
