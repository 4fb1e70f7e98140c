/** Sampled completions and the messages that they are, read by a renderer, by the gateway whole, and as a stream. */
import { expect } from "vitest";
import type { ToolDefinition } from "../../src/core/message.ts";
import type { Renderer } from "../../src/core/policy.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import type { TextTokenizer } from "../../src/models/tokenizers/tokenizer.ts";
import { createScriptedSampler } from "../../src/testing/index.ts";
import { createTestGateway, readEvents, userSays } from "../gateway/function-client.ts";
import { loadFamily } from "./family-templates.ts";
import { loadReal, withMarkup, type RealModel } from "./real-tokenizers.ts";

/** `control`: what looks like a control token is one; `plain`: ordinary tokens only. */
export type Part = readonly ["control" | "plain", string];

export interface Expected {
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly content?: string;
  readonly reasoning?: string;
  /** Or no call, and the trace says why. */
  readonly orMalformed?: boolean;
  /** What the trace says of a call that was read. @default not looked at */
  readonly malformed?: RegExp | null;
  /** Arguments to the letter. */
  readonly texts?: readonly string[];
}

export interface CompletionCase {
  readonly name: string;
  readonly model?: string;
  readonly format?: "xml";
  readonly answer: readonly Part[];
  readonly request?: {
    readonly tools?: readonly { readonly function: ToolDefinition }[];
    readonly chat_template_kwargs?: { readonly enable_thinking: boolean };
  };
  readonly expect: Expected;
}

/** Calls as Qwen3-Coder writes them, in a template of no known family. */
const xmlTemplate =
  "{% if tools %}## tools\n{% for t in tools %}{{ t|tojson }}\n{% endfor %}Calls: <tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call><|endoftext|>{% endif %}{% for m in messages %}## {{ m.role }}\n{% if m.content %}{{ m.content }}{% endif %}<|endoftext|>{% endfor %}{% if add_generation_prompt %}## assistant\n{% endif %}";

export interface Model {
  readonly tokenizer: TextTokenizer;
  readonly renderer: Renderer;
}

const real = new Set<string>(["qwen2_5", "qwen3", "llama3_2"] satisfies RealModel[]);
const loaded = new Map<string, Model>();

export function loadModel(name: string): Model {
  const known = loaded.get(name);
  if (known) return known;
  let model: Model;
  if (name === "xml") {
    const { tokenizer, config } = loadReal("qwen3");
    const own = { ...config, chat_template: xmlTemplate, eos_token: "<|endoftext|>" };
    model = { tokenizer, renderer: chooseRenderer(tokenizer, own) };
  } else if (real.has(name)) {
    const { tokenizer, config } = loadReal(name as RealModel);
    model = { tokenizer, renderer: chooseRenderer(tokenizer, config) };
  } else model = loadFamily(name);
  loaded.set(name, model);
  return model;
}

export function idsOf(tokenizer: TextTokenizer, parts: readonly Part[]): Int32Array {
  return Int32Array.from(
    parts.flatMap(([how, text]) =>
      how === "plain" ? tokenizer.encode(text) : [...withMarkup(tokenizer, text)],
    ),
  );
}

interface Read {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly malformed: string | undefined;
}

function byRenderer({ tokenizer, renderer }: Model, { answer, request }: CompletionCase): Read {
  const tools = (request?.tools ?? []).map((tool) => tool.function);
  const [end = 0] = renderer.stop.tokenIds;
  const tokens = Int32Array.from([...idsOf(tokenizer, answer), end]);
  const thinking = request?.chat_template_kwargs?.enable_thinking;
  const options = { tools, ...(thinking === undefined ? {} : { thinking }) };
  const { content, reasoning = "", toolCalls, malformed } = renderer.parse(tokens, options);
  return { content, reasoning, calls: toolCalls, malformed };
}

interface WireDelta {
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly function: { readonly name?: string; readonly arguments?: string };
  }[];
}

function gathered(events: readonly string[]): Omit<Read, "malformed"> {
  const calls: { name: string; arguments: string }[] = [];
  let [content, reasoning] = ["", ""];
  for (const event of events) {
    if (event === "[DONE]") continue;
    const { choices } = JSON.parse(event) as { choices: readonly { delta: WireDelta }[] };
    for (const { delta } of choices) {
      content += delta.content ?? "";
      reasoning += delta.reasoning_content ?? "";
      for (const { index, function: part } of delta.tool_calls ?? []) {
        const call = (calls[index] ??= { name: "", arguments: "" });
        call.name ||= part.name ?? "";
        call.arguments += part.arguments ?? "";
      }
    }
  }
  return { content, reasoning, calls };
}

async function byGateway(
  { tokenizer, renderer }: Model,
  { answer, request }: CompletionCase,
): Promise<{ readonly whole: Read; readonly streamed: Omit<Read, "malformed"> }> {
  const [end = 0] = renderer.stop.tokenIds;
  const sampler = createScriptedSampler(() => [...idsOf(tokenizer, answer), end], {
    decode: (tokens) => tokenizer.decode(tokens),
  });
  const target = { kind: "sampler", sampler, renderer } as const;
  const session = await createTestGateway([], {}, { target }).open();
  const body = { messages: [userSays("Q")], ...request };
  const { message } = (await session.complete(body)).choices[0]!;
  const trace = (await session.traces()).at(-1)!;
  const events = await readEvents(await session.post({ ...body, stream: true }));
  return {
    whole: {
      content: message.content ?? "",
      reasoning: message.reasoning_content ?? "",
      calls: (message.tool_calls ?? []).map((call) => call.function),
      malformed: trace.malformed ?? undefined,
    },
    streamed: gathered(events),
  };
}

function check(read: Read, expected: Expected): void {
  const { calls, content, reasoning, malformed, texts } = expected;
  if (expected.orMalformed === true && read.malformed !== undefined && read.calls.length === 0)
    return;
  const parsed = read.calls.map((call) => ({
    name: call.name,
    arguments: JSON.parse(call.arguments) as unknown,
  }));
  if (calls !== undefined) expect(parsed).toEqual(calls);
  if (content !== undefined) expect(read.content).toBe(content);
  if (reasoning !== undefined) expect(read.reasoning).toBe(reasoning);
  if (texts !== undefined) expect(read.calls.map((call) => call.arguments)).toEqual(texts);
  if (malformed === null) expect(read.malformed).toBeUndefined();
  else if (malformed !== undefined) expect(read.malformed).toMatch(malformed);
}

/** The renderer and the gateway, whole and streamed, read what is expected. */
export async function checkCompletion(one: CompletionCase): Promise<void> {
  const model = loadModel(one.format ?? one.model ?? "qwen3");
  check(byRenderer(model, one), one.expect);
  const { whole, streamed } = await byGateway(model, one);
  check(whole, one.expect);
  const { malformed: _, ...shown } = whole;
  expect(streamed).toEqual({ ...shown, calls: shown.calls.map((call) => ({ ...call })) });
}
