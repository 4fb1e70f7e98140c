/** Right when the last number of the answer is the right one. */
import type { Episode, Task } from "agent-trainer";
import type { ShopTask } from "./tasks.ts";

export function evaluator(task: Task<ShopTask>, episode: Episode): boolean {
  const numbers = String(episode.output).match(/\d+/g) ?? [];
  return Number(numbers.at(-1)) === task.metadata.answer;
}
