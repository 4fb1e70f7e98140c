/**
 * ChatML: `<|im_start|>role\ntext<|im_end|>\n` per message, tool calls and results as Qwen 2.5 has
 * them. Text between control tokens is encoded in one piece; what was sampled is never encoded again.
 */
import type { ChatMessage } from "../core/message.ts";
import type { ParsedCompletion, Renderer, RenderOptions } from "../core/policy.ts";
import {
  callEnd,
  callStart,
  describeTools,
  formatCall,
  listTools,
  parseCalls,
  textOf,
} from "./hermes-tools.ts";
import type { TextTokenizer } from "./tokenizer.ts";

export interface ChatmlOptions {
  /** `schemas`: the whole JSON schemas; `names`: one short line. @default "schemas" */
  readonly tools?: "schemas" | "names";
}

const start = "<|im_start|>";
const end = "<|im_end|>";
const resultStart = "<tool_response>";
const resultEnd = "</tool_response>";

export function createChatmlRenderer(
  tokenizer: TextTokenizer,
  options: ChatmlOptions = {},
): Renderer {
  const ids = Object.fromEntries(
    [start, end, callStart, callEnd].map((token) => [token, tokenizer.special(token)]),
  ) as Record<string, number>;
  const endId = ids[end] as number;
  const toolText = options.tools === "names" ? listTools : describeTools;

  /** A list of texts and control tokens (those in `ids`); neighbouring texts are encoded together. */
  function encode(parts: readonly Part[]): Int32Array {
    const out: number[] = [];
    let text = "";
    for (const part of parts) {
      if (part.control === undefined) {
        text += part.text;
        continue;
      }
      out.push(...tokenizer.encode(text), ids[part.control] as number);
      text = "";
    }
    out.push(...tokenizer.encode(text));
    return Int32Array.from(out);
  }

  const opening = [control(start), words("assistant\n")];

  return {
    family: "chatml",
    stop: { tokenIds: [endId], strings: [] },
    render(messages, renderOptions) {
      const all = withTools(messages, renderOptions, toolText);
      return {
        tokens: encode([
          ...all.flatMap((message, i) => turn(message, all[i - 1], all[i + 1])),
          ...opening,
        ]),
      };
    },
    extend(previous, newMessages) {
      // An answer cut short by its token limit has not been closed.
      const closed = previous.at(-1) === endId;
      const parts = [
        ...(closed ? [] : [control(end)]),
        words("\n"),
        ...newMessages.flatMap((message, i) =>
          turn(message, newMessages[i - 1], newMessages[i + 1]),
        ),
        ...opening,
      ];
      const added = encode(parts);
      const tokens = new Int32Array(previous.length + added.length);
      tokens.set(previous);
      tokens.set(added, previous.length);
      return { tokens };
    },
    parse(tokens): ParsedCompletion {
      const own = tokens.at(-1) === endId ? tokens.subarray(0, -1) : tokens;
      return parseCalls(tokenizer.decode(own));
    },
    encode: (text) => Int32Array.from(tokenizer.encode(text)),
    decode: (tokens) => tokenizer.decode(tokens.filter((id) => id !== endId && id !== ids[start])),
  };
}

interface Part {
  readonly text: string;
  readonly control?: string;
}

const words = (text: string): Part => ({ text });
const control = (token: string): Part => ({ text: "", control: token });

function withTools(
  messages: readonly ChatMessage[],
  options: RenderOptions | undefined,
  toolText: typeof listTools,
): readonly ChatMessage[] {
  const tools = options?.tools ?? [];
  if (tools.length === 0) return messages;
  const [first] = messages;
  const hasSystem = first?.role === "system";
  const text = hasSystem ? `${textOf(first)}\n\n${toolText(tools)}` : toolText(tools);
  return [{ role: "system", content: text }, ...(hasSystem ? messages.slice(1) : messages)];
}

/** One message; results of parallel calls share one user turn. */
function turn(
  message: ChatMessage,
  before: ChatMessage | undefined,
  after: ChatMessage | undefined,
): Part[] {
  if (message.role === "tool") {
    return [
      ...(before?.role === "tool" ? [] : [control(start), words("user")]),
      words(`\n${resultStart}\n${textOf(message)}\n${resultEnd}`),
      ...(after?.role === "tool" ? [] : [control(end), words("\n")]),
    ];
  }
  const body: Part[] = [words(textOf(message))];
  for (const call of message.toolCalls ?? []) {
    if (body.length > 1 || body[0]?.text !== "") body.push(words("\n"));
    body.push(
      control(callStart),
      words(`\n${formatCall(call.name, call.arguments)}\n`),
      control(callEnd),
    );
  }
  return [control(start), words(`${message.role}\n`), ...body, control(end), words("\n")];
}
