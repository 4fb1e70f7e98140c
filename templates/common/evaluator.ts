/** The reward: true is 1, false is 0. */
import type { Episode, Task } from "agent-trainer";

/** Correct if what the agent returned is the price, and nothing else. */
export function evaluator(task: Task, episode: Episode): boolean {
  return String(episode.output).trim() === String(task.metadata["answer"]);
}
