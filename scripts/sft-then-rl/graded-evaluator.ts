/**
 * The shop's score with something for what has to happen on the way, so that rollouts of a model that never
 * gives a right answer differ all the same, and reinforcement learning alone has something to learn from.
 */
import type { Episode, EvalOutput, Task } from "agent-trainer";
import { evaluator } from "../../examples/shop/evaluator.ts";
import type { ShopTask } from "../../examples/shop/tasks.ts";

type Arguments = Readonly<Record<string, unknown>>;

function parse(text: string): Arguments {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Arguments) : {};
  } catch {
    return {};
  }
}

/** 0.1 for any call, 0.2 for the right price, 0.2 for the right product, 0.5 for the right answer. */
export function gradedEvaluator(task: Task<ShopTask>, episode: Episode): EvalOutput {
  const { item, count, price } = task.metadata;
  const calls = episode.trajectories
    .flatMap(({ steps }) => steps)
    .flatMap(({ trace }) => trace.response.toolCalls ?? [])
    .map((call) => ({ name: call.name, input: parse(call.arguments) }));
  const isProduct = ({ a, b }: Arguments): boolean =>
    (a === count && b === price) || (a === price && b === count);
  const isCorrect = evaluator(task, episode);
  const parts = [
    { worth: 0.1, passed: calls.length > 0 },
    { worth: 0.2, passed: calls.some((c) => c.name === "get_price" && c.input["item"] === item) },
    { worth: 0.2, passed: calls.some((c) => c.name === "multiply" && isProduct(c.input)) },
    { worth: 0.5, passed: isCorrect },
  ];
  const reward = parts.reduce((sum, { worth, passed }) => sum + (passed ? worth : 0), 0);
  return { reward, isCorrect };
}
