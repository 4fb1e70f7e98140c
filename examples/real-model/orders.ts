/** Orders to a shop, as people write them, and the score of the JSON that a model makes of one. */
import type { Episode, EvalOutput, Task } from "agent-trainer";

export interface Order {
  readonly item: string;
  readonly count: number;
}

const words = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"];
const sentences = [
  (what: string) => `I would like ${what}, please.`,
  (what: string) => `Hi! Could you send me ${what}? Thanks.`,
  (what: string) => `Please put me down for ${what}.`,
  (what: string) => `We need ${what} for the office.`,
  (what: string) => `Can I get ${what} by Friday?`,
  (what: string) => `My daughter wants ${what}.`,
];

/** One task for each item; the sentence, the number and its spelling rotate. */
function makeTasks(name: string, items: string): Task<Order>[] {
  return items.split(" ").map((item, i) => {
    const n = (i * 7) % words.length;
    const count = n + 2;
    const what = `${i % 3 === 0 ? words[n] : count} ${item}s`;
    return {
      id: `${name}-${item}`,
      instruction: sentences[i % sentences.length]!(what),
      metadata: { item, count },
    };
  });
}

export const trainTasks = makeTasks(
  "train",
  "mug lamp pen chair book hat desk clock shirt plate bowl fork spoon coat rope ring map jar kite " +
    "lock card bag ball pillow towel basket ladder hammer pencil bottle blanket mirror",
);
/** None of these items is in the training tasks. */
export const valTasks = makeTasks(
  "val",
  "candle carpet guitar sofa table helmet jacket window knob brick ticket stamp radio camera " +
    "printer cable magnet button ribbon poster puzzle bucket shovel drum",
);

/** What the model as its own teacher reads: `distillation.hint=orders.ts#hint`. */
export const hint = ({ metadata: { item, count } }: Task<Order>): string =>
  `\n\nThe answer is ${JSON.stringify({ item, count })}`;

/**
 * Most of the reward is for the item and the count. The rest is for intermediate steps that a model
 * gets right by chance long before, so that it has something to learn from: any JSON object in the
 * response, its keys, nothing around it.
 */
export function evaluator(task: Task<Order>, episode: Episode): EvalOutput {
  const text = String(episode.output).trim();
  // From the first brace to the last: an inner object would pass {"item": {"count": 3}} for an
  // order.
  const found = parse(/\{.*\}/su.exec(text)?.[0] ?? "");
  const keys = Object.keys(found ?? {}).toSorted();
  const isRight = (key: keyof Order): boolean => found?.[key] === task.metadata[key];
  const parts = [
    { worth: 0.1, passed: found !== null },
    { worth: 0.1, passed: keys.join() === "count,item" },
    { worth: 0.1, passed: parse(text) !== null },
    { worth: 0.35, passed: isRight("item") },
    { worth: 0.35, passed: isRight("count") },
  ];
  return {
    reward: parts.reduce((sum, { worth, passed }) => sum + (passed ? worth : 0), 0),
    isCorrect: parts.every(({ passed }) => passed),
  };
}

/** A JSON object; null for anything else. */
function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? { ...value } : null;
  } catch {
    return null;
  }
}
