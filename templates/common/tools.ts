/** What the agent works with: a question about a shop, and two tools as plain functions. */

/** One line of `train.jsonl` or `val.jsonl`. */
export interface Question {
  instruction: string;
  item: string;
  /** What `get_price` returns; the model cannot know it. */
  price: number;
  /** The correct result, for the evaluator. */
  answer: number;
}

export function getPrice(question: Question, item: unknown): string {
  return item === question.item ? String(question.price) : "error: no such item";
}

export function multiply(a: unknown, b: unknown): string {
  return String(Number(a) * Number(b));
}
