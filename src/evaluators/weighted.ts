/** One score of several. */
import type { Evaluator, EvaluatorResult } from "../core/agent.ts";
import { ConfigError } from "../core/errors.ts";
import type { EvalOutput, Signal } from "../core/trajectory.ts";
import { type Scorer, evaluatorError } from "./scorer.ts";

/**
 * A weight and what it applies to.
 *
 * @example
 * const part: WeightedPart = [0.8, exactMatch()];
 */
export type WeightedPart<Metadata = unknown> = readonly [
  weight: number,
  evaluator: Evaluator<Metadata>,
];

/**
 * Options of {@link weighted}.
 *
 * @example
 * const options: WeightedOptions = { correct: "answer" };
 */
export interface WeightedOptions {
  /**
   * The part that decides whether the response is correct.
   * @default the part named "correct"; without one, all parts that decide it must agree
   */
  readonly correct?: string;
}

/** The full form of what an evaluator returned. */
function fullOutput(result: EvaluatorResult, name: string): EvalOutput {
  const output: EvalOutput =
    typeof result === "boolean"
      ? { reward: result ? 1 : 0, isCorrect: result }
      : typeof result === "number"
        ? { reward: result, isCorrect: null }
        : isPair(result)
          ? { reward: result[0], isCorrect: result[1] }
          : result;
  const reward: unknown = output?.reward;
  if (typeof reward === "number" && Number.isFinite(reward)) return output;
  throw evaluatorError(
    `The part "${name}" returned ${describe(result)}, which is not a finite score.`,
    "Return a boolean, a finite number, a pair or an object with `reward` from each part.",
    { part: name },
  );
}

const isPair = (value: EvaluatorResult): value is readonly [number, boolean] =>
  Array.isArray(value);

const describe = (value: unknown): string =>
  typeof value === "number" ? String(value) : (JSON.stringify(value) ?? typeof value).slice(0, 100);

/**
 * The weighted sum of several evaluators. Weights are used as given; a penalty has a reward below 0 and
 * a positive weight. Each part is reported as a signal of its name, and the signals of a part as
 * `{part}/{signal}`. When a part throws, the whole throws.
 *
 * @example
 * const evaluator = weighted({
 *   correct: [0.8, number()],
 *   format: [0.2, regex({ pattern: "####" })],
 * });
 */
export function weighted<Metadata = unknown>(
  parts: Readonly<Record<string, WeightedPart<Metadata>>>,
  options: WeightedOptions = {},
): Scorer<Metadata> {
  const entries = Object.entries(parts);
  const decider = options.correct ?? (Object.hasOwn(parts, "correct") ? "correct" : null);
  if (decider !== null && !Object.hasOwn(parts, decider)) {
    throw new ConfigError({
      message: `There is no part "${decider}" among those of weighted: ${Object.keys(parts).join(", ")}.`,
      hint: "Set `correct` to the name of a part.",
      fields: { correct: decider },
    });
  }
  const bad = entries.find(([, [weight]]) => !Number.isFinite(weight));
  if (entries.length === 0 || bad !== undefined) {
    throw new ConfigError({
      message:
        bad === undefined
          ? "weighted() was given no parts."
          : `The weight of the part "${bad[0]}" is ${bad[1][0]}, which is not finite.`,
      hint: "Give at least one part, each as [weight, evaluator].",
    });
  }
  return async (task, episode) => {
    const outputs = await Promise.all(
      entries.map(async ([name, [weight, evaluator]]) => {
        const evaluate =
          typeof evaluator === "function" ? evaluator : evaluator.evaluate.bind(evaluator);
        return { name, weight, output: fullOutput(await evaluate(task, episode), name) };
      }),
    );
    const signals = outputs.flatMap(({ name, output }): Signal[] => [
      { name, value: output.reward },
      ...(output.signals ?? []).map((one) => ({ name: `${name}/${one.name}`, value: one.value })),
    ]);
    const metadata = Object.fromEntries(
      outputs.flatMap(({ name, output }) =>
        output.metadata === undefined ? [] : [[name, output.metadata]],
      ),
    );
    return {
      reward: outputs.reduce((sum, { weight, output }) => sum + weight * output.reward, 0),
      isCorrect: verdict(outputs.filter(({ name }) => decider === null || name === decider)),
      signals,
      metadata,
    };
  };
}

/** A part that gave only a number decides where it is at least 1 or, for a single decider, at most 0. */
function verdict(parts: readonly { readonly output: EvalOutput }[]): boolean | null {
  const decided = parts.flatMap(({ output }) => {
    if (output.isCorrect !== null) return [output.isCorrect];
    if (parts.length > 1) return [];
    return output.reward >= 1 ? [true] : output.reward <= 0 ? [false] : [];
  });
  return decided.length === 0 ? null : decided.every(Boolean);
}
