/** Tasks of the shop: how much do N of something cost? Prices differ from task to task. */
import type { Task } from "agent-trainer";

export interface ShopTask {
  item: string;
  count: number;
  /** What the `get_price` tool returns; the model cannot know it. */
  price: number;
  answer: number;
}

export const items = [
  "lamp",
  "chair",
  "mug",
  "plate",
  "clock",
  "shirt",
  "pen",
  "book",
  "cup",
  "bag",
  "ball",
  "bowl",
  "card",
  "coat",
  "desk",
  "fork",
  "hat",
  "jar",
  "kite",
  "lock",
  "map",
  "ring",
  "rope",
  "spoon",
];

/** `amount` tasks, the same ones for the same `name`, and none that is among `others`. */
export function makeTasks(
  name: string,
  amount: number,
  others: readonly Task<ShopTask>[] = [],
): Task<ShopTask>[] {
  const seen = new Set(others.map(({ metadata }) => JSON.stringify(metadata)));
  let state = [...name].reduce((hash, char) => (hash * 31 + char.charCodeAt(0)) % 233280, 7);
  const sample = (below: number): number => {
    state = (state * 9301 + 49297) % 233280;
    return Math.floor((state / 233280) * below);
  };
  const makeTask = (): ShopTask => {
    const item = items[sample(items.length)] ?? "lamp";
    const count = 2 + sample(8);
    const price = 11 + sample(89);
    return { item, count, price, answer: count * price };
  };
  return Array.from({ length: amount }, (_, i) => {
    let metadata = makeTask();
    while (seen.has(JSON.stringify(metadata))) metadata = makeTask();
    const instruction = `How much do ${metadata.count} ${metadata.item}s cost?`;
    return { id: `${name}-${i}`, instruction, metadata };
  });
}

export const trainTasks: Task<ShopTask>[] = makeTasks("train", 512);
export const valTasks: Task<ShopTask>[] = makeTasks("val", 100, trainTasks);
