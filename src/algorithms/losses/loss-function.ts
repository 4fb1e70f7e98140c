/** Losses as users write them: a formula for one token, which is differentiated here, or a whole row. */
import { ConfigError, NumericsError } from "../../core/errors.ts";
import type { LossRow, RowLoss, RowLossValue } from "../../core/loss/row-loss.ts";

/** What a formula may use. */
export interface LossFunctionToken {
  /** log p(token) under the weights being trained; the loss is differentiated by it. */
  readonly logprob: number;
  /** The same number as a constant, written as a stopped gradient in papers. */
  readonly fixedLogprob: number;
  /** log p(token) when it was sampled. */
  readonly samplingLogprob: number;
  readonly advantage: number;
  /** Name of the trajectory. */
  readonly role: string;
}

/**
 * The loss of one token: smooth, or with kinks as `Math.min` and `Math.max` make them. Pure.
 *
 * @example
 * ({ logprob, samplingLogprob, advantage }) => -Math.exp(logprob - samplingLogprob) * advantage
 */
type TokenLossFunction = (token: LossFunctionToken) => number;

/** A formula for a token, or terms and gradients of a whole row for losses that look at several tokens. */
export type LossFunction = TokenLossFunction | { readonly row: RowLoss };

/** Log-probabilities are in nats; the error of a central difference is of the order of its square. */
const step = 1e-5;

/**
 * @throws NumericsError naming the token whose loss is not finite.
 * @throws ConfigError for lists that are not as long as the row.
 */
export function toRowLoss(given: LossFunction): RowLoss {
  if (typeof given !== "function") return (row) => checked(given.row(row), row);
  return (row) => {
    const { logprobs, weights } = row;
    const terms = new Float64Array(logprobs.length);
    const gradient = new Float64Array(logprobs.length);
    for (const [i, fixedLogprob] of logprobs.entries()) {
      const at = (logprob: number): number =>
        given({
          logprob,
          fixedLogprob,
          samplingLogprob: row.samplingLogprobs[i]!,
          advantage: row.advantages[i]!,
          role: row.role,
        });
      terms[i] = at(fixedLogprob);
      gradient[i] =
        (weights[i]! * (at(fixedLogprob + step) - at(fixedLogprob - step))) / (2 * step);
    }
    return checked({ terms, gradient }, row);
  };
}

function checked(value: RowLossValue, { logprobs, role }: LossRow): RowLossValue {
  for (const [what, list] of [
    ["term", value.terms],
    ["gradient", value.gradient],
  ] as const) {
    if (list.length !== logprobs.length)
      throw new ConfigError({
        message: `The loss function gave ${list.length} ${what}s for a row of ${logprobs.length} trained tokens.`,
        hint: "Return { terms, gradient }, each as long as row.logprobs.",
        fields: { role, what, length: list.length, expected: logprobs.length },
      });
    const bad = list.findIndex((number) => !Number.isFinite(number));
    if (bad >= 0)
      throw new NumericsError(
        `The ${what} that the loss function gave token ${bad} of a row of "${role}"`,
        list[bad]!,
      );
  }
  return value;
}
