/** What a server knows of its environment, and tasks as both protocols send them. */
import type { EnvironmentSource, EnvironmentTool } from "../../core/environment.ts";
import type { Task } from "../../core/task.ts";

/** An environment that can be served. */
export interface ServedSource extends EnvironmentSource {
  readonly splits: readonly string[];
  readonly tools: readonly EnvironmentTool[];
}

/** A task as the wire has it: its row, with the fields that make it a task again. */
export const specOfTask = ({ id, instruction, metadata }: Task): object => ({
  ...metadata,
  id,
  instruction,
});

export function taskOfSpec(spec: Readonly<Record<string, unknown>>): Task {
  const { id, instruction } = spec;
  return {
    id: typeof id === "string" ? id : "task",
    instruction: typeof instruction === "string" ? instruction : JSON.stringify(spec),
    metadata: spec,
  };
}
