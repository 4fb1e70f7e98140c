/**
 * A prompt and the response to it as one conversation. Many sets of pairs have the prompt in both, UltraFeedback's
 * layout: a model would be taught to answer a question that stands there twice.
 */
import { parseMessages } from "../../../gateway/routes/chat/messages.ts";
import { isJsonObject } from "../../../util/json-object.ts";
import { RowError } from "./row-error.ts";

type Messages = readonly unknown[];

export interface Joined {
  readonly list: Messages;
  /** The first message of the response. */
  readonly from: number;
  /** Whether the response repeats the prompt. */
  readonly repeats: boolean;
}

const roleOf = (message: unknown): unknown => (isJsonObject(message) ? message["role"] : undefined);

/** What a message says, whatever form it has. */
function meaning(message: unknown): string {
  try {
    return JSON.stringify(parseMessages({ messages: [message] }, { images: false }));
  } catch {
    return JSON.stringify(message);
  }
}

/** How many messages two conversations begin with in common. */
export function commonMessages(a: Messages, b: Messages): number {
  const differs = a.findIndex((each, i) => i >= b.length || meaning(each) !== meaning(b[i]));
  return differs < 0 ? a.length : differs;
}

/** Whether `list` begins with `start`. */
const beginsWith = (list: Messages, start: Messages): boolean =>
  start.length > 0 && commonMessages(start, list) === start.length;

/** System messages, and what follows them. */
function parts(list: Messages): readonly [Messages, Messages] {
  const end = list.findIndex((each) => !["system", "developer"].includes(String(roleOf(each))));
  return end < 0 ? [list, []] : [list.slice(0, end), list.slice(end)];
}

/** @throws RowError where it is not clear what the prompt is. */
export function joinPrompt(prompt: Messages, response: Messages, name: string, at: string): Joined {
  const [system, asked] = parts(prompt);
  const [ownSystem, said] = parts(response);
  const refuse = (what: string): never => {
    throw new RowError(
      at,
      `${name} ${what}, so it is not clear what the prompt is.`,
      `Leave out prompt where ${name} has all of it, or leave only the response in ${name}.`,
    );
  };
  const repeated = [asked, asked.slice(-1)].find((end) => beginsWith(said, end));
  if (repeated === undefined) {
    if (roleOf(asked.at(-1)) === "user" && roleOf(said[0]) === "user")
      refuse("begins with a message of the user that is not the prompt");
    return { list: [...prompt, ...response], from: prompt.length, repeats: false };
  }
  if (system.length > 0 && ownSystem.length > 0 && !isSame(system, ownSystem))
    refuse("has another system message than the prompt");
  const before = [...(system.length > 0 ? system : ownSystem), ...asked];
  return {
    list: [...before, ...said.slice(repeated.length)],
    from: before.length,
    repeats: true,
  };
}

const isSame = (a: Messages, b: Messages): boolean =>
  a.length === b.length && commonMessages(a, b) === a.length;
