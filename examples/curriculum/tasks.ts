/**
 * Questions to the shop assistant of three kinds, as datasets have them: some that the model answers already, some
 * that it can learn, and some that nothing it does can answer.
 */
import type { Task } from "agent-trainer";
import { makeTasks, type ShopTask } from "../shop/tasks.ts";

export interface MixedTask extends ShopTask {
  kind: "easy" | "fair" | "impossible";
}

const learnable = makeTasks("fair", 32);

/** The first ones: the price is in the catalogue, and the answer takes two tools. */
const fair = (amount: number): Task<MixedTask>[] =>
  learnable
    .slice(0, amount)
    .map((task) => ({ ...task, metadata: { ...task.metadata, kind: "fair" } }));

/** Any reply will do. */
const easy = (amount: number): Task<MixedTask>[] =>
  makeTasks("easy", amount, learnable).map((task) => ({
    ...task,
    instruction: `Do you have ${task.metadata.item}s?`,
    metadata: { ...task.metadata, kind: "easy" },
  }));

/** The shop does not have what is asked for, so its price cannot be looked up. */
const impossible = (amount: number): Task<MixedTask>[] =>
  makeTasks("impossible", amount, learnable).map((task) => ({
    ...task,
    instruction: `How much do ${task.metadata.count} unicorns cost?`,
    metadata: { ...task.metadata, kind: "impossible" },
  }));

/** One of eight can be learned. */
export const trainTasks: Task<MixedTask>[] = [...fair(16), ...easy(48), ...impossible(64)];
/** One of four can be learned. */
export const quarterTasks: Task<MixedTask>[] = [...fair(32), ...easy(32), ...impossible(64)];

/** Those that can be learned, others than in training: scores of the other two kinds hardly change. */
export const valTasks: Task<MixedTask>[] = makeTasks("val", 60, learnable).map((task) => ({
  ...task,
  metadata: { ...task.metadata, kind: "fair" },
}));
