/**
 * Rows in the bridge's format: a header in JSON, then the columns of all rows without padding, all
 * little-endian; and the loss. The other side is `wire.py` and `loss.py` in `python/agent_trainer_bridge/`.
 */
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import { defined } from "../../util/defined.ts";

type Write = (at: number, value: number) => void;

/**
 * `factors`: one for each row, from `rowFactors`; `fields` are added to the header.
 * @param criticFactors those of the value loss, null where a row teaches no critic; then values and returns
 * are written as well
 */
export function encodeRows(
  rows: readonly TrainingRow[],
  factors: ArrayLike<number>,
  fields: object,
  criticFactors?: readonly (number | null)[],
): Uint8Array<ArrayBuffer> {
  const lengths = rows.map(({ tokens }) => tokens.length);
  const temperatures = rows.map(({ temperature = 1 }) => temperature);
  const header = new TextEncoder().encode(
    JSON.stringify({
      ...fields,
      lengths,
      factors: Array.from(factors),
      ...(temperatures.every((temperature) => temperature === 1) ? {} : { temperatures }),
      ...(criticFactors === undefined ? {} : { critic_factors: criticFactors }),
    }),
  );
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const body = new Uint8Array(4 + header.length + total * (criticFactors === undefined ? 17 : 25));
  const view = new DataView(body.buffer);
  view.setUint32(0, header.length, true);
  body.set(header, 4);
  const setInt: Write = (to, value) => view.setInt32(to, value, true);
  const setByte: Write = (to, value) => view.setUint8(to, value);
  const setFloat: Write = (to, value) => view.setFloat32(to, value, true);
  let at = 4 + header.length;
  const writeColumn = (
    columns: readonly ArrayLike<number>[],
    write: Write,
    bytes: number,
  ): void => {
    for (const column of columns) {
      for (let i = 0; i < column.length; i++, at += bytes) write(at, column[i] as number);
    }
  };
  const each = (read: (row: TrainingRow) => ArrayLike<number>): ArrayLike<number>[] =>
    rows.map(read);
  writeColumn(
    each(({ tokens }) => tokens),
    setInt,
    4,
  );
  writeColumn(
    each(({ targetMask }) => targetMask),
    setByte,
    1,
  );
  writeColumn(
    each(({ samplingLogprobs }) => samplingLogprobs),
    setFloat,
    4,
  );
  writeColumn(
    each(({ advantages }) => advantages),
    setFloat,
    4,
  );
  writeColumn(
    each(({ targetMask, weights }) => weights ?? targetMask),
    setFloat,
    4,
  );
  if (criticFactors === undefined) return body;
  const zeros = (row: TrainingRow): Float32Array => new Float32Array(row.tokens.length);
  writeColumn(
    each((row) => row.values ?? zeros(row)),
    setFloat,
    4,
  );
  writeColumn(
    each((row) => row.returns ?? zeros(row)),
    setFloat,
    4,
  );
  return body;
}

/** Omitted fields have the bridge's defaults, which are those of `LossSpec`. */
export function encodeLoss(loss: LossSpec): Readonly<Record<string, unknown>> {
  const { dualClip, droBeta, sapoTauPositive, sapoTauNegative, kl, entropyCoef } = loss;
  return {
    name: loss.name,
    eps_clip: loss.epsClip,
    eps_clip_high: loss.epsClipHigh,
    dual_clip: dualClip ?? null,
    ...defined({
      dro_beta: droBeta,
      sapo_tau_positive: sapoTauPositive,
      sapo_tau_negative: sapoTauNegative,
    }),
    ...(kl ? { kl_coef: kl.coef, kl_estimator: kl.estimator } : {}),
    ...defined({ entropy_coef: entropyCoef }),
  };
}
