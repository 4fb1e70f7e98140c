/** The value that an evaluator returned, validated and in its full form. */
import { AgentTrainerError } from "../../core/errors.ts";
import type { EvalOutput, Signal } from "../../core/trajectory.ts";
import { describeValue } from "../failures/error-facts.ts";

const accepted =
  "Return true or false, a finite number, [reward, isCorrect], or { reward, isCorrect, signals?, metadata? }.";

/**
 * `true`/`false` = reward 1/0; a number = reward, which does not by itself mean correct or incorrect
 * (see `judgeNumber` in score.ts); a pair = [reward, isCorrect].
 * @param who names the function in the message.
 * @throws AgentTrainerError (`EVALUATOR_FAILED`) naming the value and the task.
 */
export function coerceEvaluation(
  returned: unknown,
  taskId: string,
  who = "The evaluator",
): EvalOutput {
  const fail = (what: string, value: unknown): AgentTrainerError =>
    new AgentTrainerError({
      code: "EVALUATOR_FAILED",
      message: `${who} returned ${what} for task "${taskId}".`,
      hint: accepted,
      fields: { taskId, value },
    });

  if (typeof returned === "boolean") return { reward: returned ? 1 : 0, isCorrect: returned };
  if (isFiniteNumber(returned)) return { reward: returned, isCorrect: null };
  if (Array.isArray(returned)) {
    const [reward, isCorrect] = returned as readonly unknown[];
    if (returned.length === 2 && isFiniteNumber(reward) && typeof isCorrect === "boolean") {
      return { reward, isCorrect };
    }
    throw fail(`the list ${describeList(returned)}`, returned);
  }
  if (typeof returned !== "object" || returned === null) {
    throw fail(describeValue(returned), returned);
  }

  const { reward, isCorrect, signals, metadata } = returned as Readonly<Record<string, unknown>>;
  if (!isFiniteNumber(reward)) throw fail(`the reward ${describeValue(reward)}`, reward);
  if (typeof isCorrect !== "boolean" && isCorrect !== null) {
    throw fail(`isCorrect = ${describeValue(isCorrect)}`, isCorrect);
  }
  if (signals !== undefined && !Array.isArray(signals)) {
    throw fail(`signals = ${describeValue(signals)}`, signals);
  }
  for (const signal of (signals ?? []) as readonly unknown[]) {
    if (!isSignal(signal)) throw fail(`the signal ${describeSignal(signal)}`, signal);
  }
  if (metadata !== undefined && (typeof metadata !== "object" || metadata === null)) {
    throw fail(`metadata = ${describeValue(metadata)}`, metadata);
  }
  return returned as EvalOutput;
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function isSignal(value: unknown): value is Signal {
  if (typeof value !== "object" || value === null) return false;
  const { name, value: number } = value as Readonly<Record<string, unknown>>;
  return typeof name === "string" && isFiniteNumber(number);
}

/** JSON would turn NaN into null. */
function describeList(list: readonly unknown[]): string {
  return `[${list.map(describeValue).join(", ")}]`;
}

function describeSignal(signal: unknown): string {
  if (typeof signal !== "object" || signal === null) return describeValue(signal);
  const { name, value } = signal as Readonly<Record<string, unknown>>;
  return `${describeValue(name)} = ${describeValue(value)}`;
}
