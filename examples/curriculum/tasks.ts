/**
 * Questions to the shop assistant of three kinds, as datasets have them: some that the model answers already, some
 * that it can learn, and some that nothing it does can answer.
 */
import type { Task } from "agent-trainer";
import { makeTasks, type ShopTask } from "../shop/tasks.ts";

export interface MixedTask extends ShopTask {
  kind: "easy" | "fair" | "impossible";
}

const fair = makeTasks("fair", 32);

/** The price is in the catalogue; the answer takes two tools. */
const fairTasks = fair.map((task) => ({
  ...task,
  metadata: { ...task.metadata, kind: "fair" as const },
}));

/** Any reply will do. */
const easyTasks = makeTasks("easy", 32, fair).map((task) => ({
  ...task,
  instruction: `Do you have ${task.metadata.item}s?`,
  metadata: { ...task.metadata, kind: "easy" as const },
}));

/** The shop does not have what is asked for, so its price cannot be looked up. */
const impossibleTasks = makeTasks("impossible", 64, fair).map((task) => ({
  ...task,
  instruction: `How much do ${task.metadata.count} unicorns cost?`,
  metadata: { ...task.metadata, kind: "impossible" as const },
}));

export const trainTasks: Task<MixedTask>[] = [...fairTasks, ...easyTasks, ...impossibleTasks];

/** Those that can be learned, others than in training: scores of the other two kinds hardly change. */
export const valTasks: Task<MixedTask>[] = makeTasks("val", 60, fair).map((task) => ({
  ...task,
  metadata: { ...task.metadata, kind: "fair" },
}));
