/**
 * Rows of feedback without pairs: a conversation and what was thought of it, in TRL's unpaired preference
 * format (`prompt`, `completion`, `label`) or as `messages` and `label`.
 */
import { show } from "../../../gateway/http/json-fields.ts";
import { isJsonObject } from "../../../util/json-object.ts";
import { type Conversation, parseConversation } from "./conversation.ts";
import { RowError } from "./row-error.ts";

export interface Feedback {
  readonly conversation: Conversation;
  readonly isDesirable: boolean;
}

const labels = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  [1, true],
  [0, false],
  ["up", true],
  ["down", false],
]);

/** @throws RowError */
export function parseFeedback(
  row: unknown,
  at: string,
  trainOn: "all" | "last",
  isColumnar: boolean = false,
): Feedback {
  const conversation = parseConversation(row, at, trainOn, isColumnar);
  const label = isJsonObject(row) ? row["label"] : undefined;
  const isDesirable = labels.get(label);
  if (isDesirable !== undefined) return { conversation, isDesirable };
  const found = (label ?? null) === null ? "there is none" : `it is ${show(label)}`;
  throw new RowError(at, `label must be true or false, 1 or 0, or "up" or "down", but ${found}.`);
}
