/** Episodes as evaluators get them. */
import type { Task } from "../../src/core/task.ts";
import type { Episode, Step } from "../../src/core/trajectory.ts";

export const taskOf = <Metadata>(metadata: Metadata, instruction = "Do it."): Task<Metadata> => ({
  id: "task-1",
  instruction,
  metadata,
});

/** An episode whose agent returned `output`, after these steps. */
export const episodeOf = (output: unknown, steps: readonly Step[] = []): Episode => ({
  id: "0/task-1/0",
  task: taskOf({}),
  rolloutIndex: 0,
  trajectories: [{ uid: "t", name: "agent", steps, reward: null, signals: {}, metadata: {} }],
  output,
  isCorrect: null,
  reward: null,
  terminationReason: "completed",
  metrics: {},
  metadata: {},
  attempts: 1,
});
