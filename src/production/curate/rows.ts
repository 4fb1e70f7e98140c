/** A turn as rows of the files that training reads: OpenAI's messages, in `prompt` and `completion`. */
import type { ChatMessage } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import { wireMessage } from "../../core/wire-message.ts";
import { parseObject } from "../../util/json-object.ts";
import type { Label } from "./labels.ts";
import type { Turn } from "./turns.ts";

type Row = Readonly<Record<string, unknown>>;

/** Text alone: what has images is not written. */
const wire = (message: ChatMessage): Row =>
  wireMessage({ ...message, content: messageText(message.content) });

const toolsOf = ({ tools }: Turn): Row =>
  tools.length === 0
    ? {}
    : {
        tools: tools.map(({ parametersText: _text, ...tool }) => ({
          type: "function",
          function: { parameters: {}, ...tool },
        })),
      };

const textOfLast = (messages: readonly ChatMessage[]): string =>
  messageText(messages.findLast(({ role }) => role === "user")?.content ?? "");

/** What `kto` reads, and without its label `sft`. */
export function exampleRow(turn: Turn): Row {
  return {
    prompt: turn.prompt.map(wire),
    completion: turn.completion.map(wire),
    ...toolsOf(turn),
  };
}

/** The same with what the answer should have been; calls of tools before it stay. */
export function correctedRow(turn: Turn, correction: string): Row {
  return {
    prompt: turn.prompt.map(wire),
    completion: [
      ...turn.completion.slice(0, -1).map(wire),
      { role: "assistant", content: correction },
    ],
    ...toolsOf(turn),
  };
}

/** What `dpo` reads: both go on after the same calls of tools. */
export function preferenceRow(turn: Turn, correction: string): Row {
  return {
    prompt: [...turn.prompt, ...turn.completion.slice(0, -1)].map(wire),
    chosen: [{ role: "assistant", content: correction }],
    rejected: turn.completion.slice(-1).map(wire),
    ...toolsOf(turn),
  };
}

/** What tools were called with and answered: for `replay:` environments. */
function callsOf({ completion }: Turn): Row {
  const results = new Map(
    completion.flatMap(({ role, toolCallId, content }) =>
      role === "tool" && toolCallId !== undefined
        ? [[toolCallId, messageText(content)] as const]
        : [],
    ),
  );
  const calls = completion
    .flatMap(({ toolCalls = [] }) => toolCalls)
    .flatMap(({ id, name, arguments: given }) => {
      const [args, result] = [parseObject(given), results.get(id)];
      return args === null || result === undefined ? [] : [{ name, arguments: args, result }];
    });
  return calls.length === 0 ? {} : { calls };
}

/** A task: what was asked, with what came before it, and how well it was done in production. */
export function taskRow(turn: Turn, { score, correction }: Label): Row {
  const answer = messageText(turn.completion.at(-1)!.content);
  const isGood = score !== null && score >= 0.5;
  const reference = correction ?? (isGood ? answer : null);
  return {
    id: turn.traceId,
    instruction: textOfLast(turn.prompt),
    messages: turn.prompt.map(wire),
    ...toolsOf(turn),
    ...callsOf(turn),
    ...(reference === null ? {} : { answer: reference }),
    ...(score === null ? {} : { production_score: score }),
  };
}

/** The text of a turn, for its language and to compare it with others. */
export const askedText = (turn: Turn): string => textOfLast(turn.prompt);
