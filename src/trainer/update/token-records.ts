/** What the update of a step knows of single tokens, for the rows that `record.token_rows` keeps. */
import type { TrainConfig } from "../../config/train-config.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { TokenRecord } from "../../core/token-record.ts";
import type { RunContext } from "../run-context.ts";
import { keptPart } from "../../runs/kept-part.ts";
import type { UpdateBackend } from "./shared-forward.ts";

type RecordContext = Pick<RunContext, "config" | "journal" | "signal" | "warnOnce"> & {
  readonly backend: UpdateBackend;
};

/** Six digits: half of the text of a float, and more than any picture shows. */
const rounded = (value: number): number => Number(value.toPrecision(6));

interface RowNumbers {
  readonly logprobs: Float32Array;
  readonly reference: Float32Array | null;
  readonly entropy: Float32Array | null;
}

/** Sampled tokens of each call of a row; one that several versions sampled has several segments. */
function callsOf({ segments }: TrainingRow): { trace: string; start: number; end: number }[] {
  const calls: { trace: string; start: number; end: number }[] = [];
  for (const { kind, traceId, start, end } of segments) {
    if (kind !== "response") continue;
    const last = calls.at(-1);
    if (last?.trace === traceId && last.end === start) last.end = end;
    else calls.push({ trace: traceId, start, end });
  }
  return calls;
}

function recordsOf(row: TrainingRow, step: number, numbers: RowNumbers): TokenRecord[] {
  return callsOf(row).map(({ trace, start, end }) => {
    const part = (values: Float32Array): number[] =>
      Array.from(values.subarray(start, end), rounded);
    const { reference, entropy } = numbers;
    return {
      episode: row.provenance.episodeId,
      trace,
      step,
      temperature: row.temperature ?? 1,
      mask: Array.from(row.targetMask.subarray(start, end)),
      logprobs: part(numbers.logprobs),
      reference: reference === null ? null : part(reference),
      entropy: entropy === null ? null : part(entropy),
      advantages: part(row.advantages),
      weights: row.weights === undefined ? null : part(row.weights),
    };
  });
}

/** Whether the run measures against a reference model. */
const hasReference = ({ algorithm }: TrainConfig): boolean =>
  algorithm.klBeta !== 0 || algorithm.useKlInReward;

/**
 * Writes the records of a step, before its first update. What fails is reported once and does not end the
 * run: it is only to be looked at.
 */
export async function recordTokens(
  { config, backend, journal, signal, warnOnce }: RecordContext,
  step: number,
  rows: readonly TrainingRow[],
): Promise<void> {
  const { tokenRows } = config.record;
  if (tokenRows === 0 || rows.length === 0 || backend.forward === undefined) return;
  const chosen = keptPart(rows, {
    taskOf: ({ provenance }) => provenance.taskId,
    limit: tokenRows,
    seed: config.trainer.seed,
    step,
  });
  try {
    const logprobs = await backend.forward(chosen, "current", signal);
    const isMeasured = hasReference(config) && backend.capabilities.reference === true;
    const reference = isMeasured ? await backend.forward(chosen, "reference", signal) : null;
    const entropy = (await backend.entropies?.(chosen, signal)) ?? null;
    const records = chosen.flatMap((row, i) =>
      recordsOf(row, step, {
        logprobs: logprobs[i]!,
        reference: reference?.[i] ?? null,
        entropy: entropy?.[i] ?? null,
      }),
    );
    journal.tokens(step, records);
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    warnOnce(
      "token records",
      `Per-token numbers of step ${step} are not recorded (record.token_rows): ${reason} This warning is shown once.`,
    );
  }
}
