/** Messages as far as trajectories are compared: who each is from, and which tools it calls. */
import type { ChatMessage } from "../../core/message.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import { exactReference, readArguments } from "../json/read-json.ts";
import { evaluatorError, fieldOf, noReference } from "../scorer.ts";
import type { ExactArgs } from "./tool-args.ts";
import { isJsonObject } from "../../util/json-object.ts";

/** A tool call; `args` is null where the model wrote no JSON object. */
export interface TrajectoryCall {
  readonly name: string;
  readonly args: ExactArgs | null;
}

/** A message. */
export interface Turn {
  readonly role: string;
  readonly calls: readonly TrajectoryCall[];
}

/** The messages of each trajectory's last call with its response. */
export const episodeMessages = (episode: Episode): readonly ChatMessage[] =>
  episode.trajectories.flatMap(({ steps }) => {
    const last = steps.at(-1);
    return last === undefined ? [] : [...last.trace.messages, last.trace.response];
  });

/** The turns of messages that were captured. */
export const turnsOf = (messages: readonly ChatMessage[]): readonly Turn[] =>
  messages.map(({ role, toolCalls = [] }) => ({
    role,
    calls: toolCalls.map((call) => ({ name: call.name, args: readArguments(call.arguments) })),
  }));

/** The turns of a task's reference, which is in OpenAI's format. */
export function referenceTurns<Metadata>(
  task: Task<Metadata>,
  reference?: (task: Task<Metadata>) => unknown,
): readonly Turn[] {
  const found = reference === undefined ? fieldOf(task, "reference") : reference(task);
  if (found === undefined || found === null) {
    throw noReference(task, reference === undefined ? "reference" : undefined);
  }
  const messages = isJsonObject(found) && "messages" in found ? found["messages"] : found;
  const turns = Array.isArray(messages)
    ? messages.map((one) => referenceTurn(one, task.id))
    : [null];
  const at = turns.indexOf(null);
  if (at === -1) return turns as readonly Turn[];
  const shown: unknown = Array.isArray(messages) ? messages[at] : messages;
  throw evaluatorError(
    `The reference of task "${task.id}" is not a list of messages: it has ${(JSON.stringify(shown) ?? "nothing").slice(0, 200)}.`,
    'Write OpenAI\'s format: [{ role: "assistant", tool_calls: [{ function: { name, arguments } }] }, ...].',
    { taskId: task.id },
  );
}

function referenceTurn(message: unknown, taskId: string): Turn | null {
  if (!isJsonObject(message) || typeof message["role"] !== "string") return null;
  const calls = message["tool_calls"] ?? [];
  if (!Array.isArray(calls)) return null;
  const read = calls.map((call) => referenceCall(call, taskId));
  if (read.includes(null)) return null;
  // The gateway captures both as one role.
  const role = message["role"] === "developer" ? "system" : message["role"];
  return { role, calls: read as TrajectoryCall[] };
}

function referenceCall(call: unknown, taskId: string): TrajectoryCall | null {
  const called = isJsonObject(call) ? call["function"] : null;
  if (!isJsonObject(called) || typeof called["name"] !== "string") return null;
  const given = called["arguments"] ?? {};
  const args = typeof given === "string" ? readArguments(given) : exactReference(given, taskId);
  return args instanceof Map ? { name: called["name"], args } : null;
}
