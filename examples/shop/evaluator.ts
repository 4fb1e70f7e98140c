/** Correct when the last number in the agent's answer is the expected one. */
import type { Episode, Task } from "agent-trainer";
import type { ShopTask } from "./tasks.ts";

export function evaluator(task: Task<ShopTask>, episode: Episode): boolean {
  const numbers = String(episode.output).match(/\d+/g) ?? [];
  return Number(numbers.at(-1)) === task.metadata.answer;
}
