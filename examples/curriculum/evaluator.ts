/** The shop's score; an easy question only needs a reply. */
import type { Episode, Task } from "agent-trainer";
import { evaluator as shop } from "../shop/evaluator.ts";
import type { MixedTask } from "./tasks.ts";

export function evaluator(task: Task<MixedTask>, episode: Episode): boolean {
  return task.metadata.kind === "easy" ? String(episode.output) !== "" : shop(task, episode);
}
