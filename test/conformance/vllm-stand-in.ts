/**
 * A server that speaks as vLLM does, with a scripted model over bytes behind it: ids, log-probabilities,
 * streams, tool calls in pieces, stop strings. The shapes are those of vLLM 0.20.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readBody } from "node:stream/consumers";
import type { ChatMessage, ToolDefinition } from "../../src/core/message.ts";
import type { Sample } from "../../src/core/policy.ts";
import { byteRenderer, byteTokens, scriptedSampler } from "../../src/testing/index.ts";

export interface VllmStandIn {
  readonly url: string;
  /** Bodies of calls, in order. */
  readonly sent: readonly WireRequest[];
  close(): Promise<void>;
}

export interface WireRequest {
  readonly prompt?: string | readonly number[];
  readonly messages?: readonly WireMessage[];
  readonly tools?: readonly { readonly function: ToolDefinition }[];
  readonly n?: number;
  readonly max_tokens?: number;
  readonly stop?: readonly string[];
  readonly stream?: boolean;
  readonly top_logprobs?: number;
  readonly response_format?: unknown;
  readonly tool_choice?: unknown;
}

interface WirePart {
  readonly type: "text" | "image_url";
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}

interface WireMessage {
  readonly role: ChatMessage["role"];
  readonly content: string | readonly WirePart[] | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

const renderer = byteRenderer();
const model = "scripted";

/** An image is one word here. */
function textOf({ text = "<image>" }: WirePart): string {
  return text;
}

function readMessage({ role, content, reasoning_content, tool_calls }: WireMessage): ChatMessage {
  return {
    role,
    content: typeof content === "string" ? content : (content ?? []).map(textOf).join(""),
    ...(reasoning_content === undefined ? {} : { reasoning: reasoning_content }),
    ...(tool_calls
      ? { toolCalls: tool_calls.map(({ id, function: called }) => ({ id, ...called })) }
      : {}),
  };
}

function promptOf({ prompt, messages = [], tools = [] }: WireRequest): Int32Array {
  if (typeof prompt === "string") return Int32Array.from(new TextEncoder().encode(prompt));
  if (prompt) return Int32Array.from(prompt);
  const definitions = tools.map((tool) => tool.function);
  return renderer.render(messages.map(readMessage), { tools: definitions }).tokens;
}

/** Ends after the token that completes a stop string, as vLLM does. */
function cutAtStop(sample: Sample, stops: readonly string[]): Sample & { stop?: string } {
  for (let length = 1; length <= sample.tokens.length; length++) {
    const said = renderer.decode(sample.tokens.subarray(0, length));
    const stop = stops.find((each) => said.includes(each));
    if (stop === undefined) continue;
    const [tokens, logprobs] = [sample.tokens, sample.logprobs].map((all) => all.slice(0, length));
    return {
      ...sample,
      tokens: tokens as Int32Array,
      logprobs: logprobs as Float32Array,
      stopReason: "stop",
      stop,
    };
  }
  return sample;
}

type Drawn = ReturnType<typeof cutAtStop>;

function visibleText({ tokens, stop }: Drawn): string {
  const all = renderer.decode(tokens);
  return stop === undefined ? all : all.slice(0, all.indexOf(stop));
}

/** The drawn token comes first, as vLLM has it, then likelier ones. */
function toChatToken(id: number, logprob: number | undefined, count: number): object {
  const token = renderer.decode(Int32Array.of(id));
  const tops = [
    { token, logprob, bytes: null },
    { token: "other", logprob: -0.001, bytes: null },
  ];
  return { token, logprob, bytes: null, top_logprobs: tops.slice(0, count) };
}

function logprobsOf({ tokens, logprobs }: Drawn, request: WireRequest): object {
  const ids = Array.from(tokens);
  if (request.messages) {
    const count = request.top_logprobs ?? 0;
    return { content: ids.map((id, i) => toChatToken(id, logprobs[i], count)) };
  }
  return {
    tokens: ids.map((id) => `token_id:${id}`),
    token_logprobs: Array.from(logprobs),
    top_logprobs: null,
    text_offset: [],
  };
}

interface WireCall {
  readonly id: string;
  readonly type: "function";
  readonly index: number;
  readonly function: { readonly name: string; readonly arguments: string };
}

interface WireAnswer {
  readonly role: "assistant";
  readonly content: string | null;
  readonly reasoning_content: string | null;
  readonly tool_calls: readonly WireCall[];
}

function messageOf(drawn: Drawn, request: WireRequest): WireAnswer {
  const parsed = renderer.parse(Int32Array.from(new TextEncoder().encode(visibleText(drawn))));
  const hasTools = (request.tools ?? []).length > 0;
  const calls = hasTools ? parsed.toolCalls : [];
  const content = !hasTools && parsed.toolCalls.length > 0 ? visibleText(drawn) : parsed.content;
  return {
    role: "assistant",
    content: content === "" ? null : content,
    reasoning_content: parsed.reasoning ?? null,
    tool_calls: calls.map((called, i) => ({
      id: `chatcmpl-tool-${i}`,
      type: "function",
      index: i,
      function: called,
    })),
  };
}

function finishOf({ stopReason, stop }: Drawn, calls: readonly WireCall[]): object {
  const called = calls.length > 0;
  const reason = stopReason === "length" ? "length" : called ? "tool_calls" : "stop";
  return { finish_reason: reason, stop_reason: stop ?? null };
}

function wholeChoice(drawn: Drawn, index: number, request: WireRequest): object {
  const isChat = request.messages !== undefined;
  const message = isChat ? messageOf(drawn, request) : undefined;
  return {
    index,
    ...(message ? { message } : { text: visibleText(drawn) }),
    logprobs: logprobsOf(drawn, request),
    ...finishOf(drawn, message?.tool_calls ?? []),
    token_ids: Array.from(drawn.tokens),
  };
}

/** Text in pieces that never split a character, and arguments of calls in halves. */
function* deltasOf(drawn: Drawn, request: WireRequest): Generator<object> {
  if (request.messages === undefined) {
    for (const character of visibleText(drawn)) yield { text: character };
    return;
  }
  const message = messageOf(drawn, request);
  yield { delta: { role: "assistant", content: "" } };
  for (const character of message.reasoning_content ?? "") {
    yield { delta: { reasoning_content: character } };
  }
  for (const character of message.content ?? "") yield { delta: { content: character } };
  for (const { index, id, function: called } of message.tool_calls) {
    const { name, arguments: text } = called;
    const half = Math.ceil(text.length / 2);
    yield {
      delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
    };
    for (const piece of [text.slice(0, half), text.slice(half)]) {
      yield { delta: { tool_calls: [{ index, function: { arguments: piece } }] } };
    }
  }
}

/** The choice's events: ids are spread over them, the last event has what is left and the end. */
function eventsOf(drawn: Drawn, index: number, request: WireRequest): object[] {
  const isChat = request.messages !== undefined;
  const deltas = [...deltasOf(drawn, request)];
  const slice = (from: number, to?: number): object => {
    const tokens = drawn.tokens.slice(from, to);
    if (tokens.length === 0) return { logprobs: null, token_ids: [] };
    const own = { ...drawn, tokens, logprobs: drawn.logprobs.slice(from, to) };
    return { logprobs: logprobsOf(own, request), token_ids: Array.from(tokens) };
  };
  const spread = Math.min(deltas.length, drawn.tokens.length);
  const called = isChat ? messageOf(drawn, request).tool_calls : [];
  const events = deltas.map((delta, i) => ({
    index,
    ...delta,
    ...(i < spread ? slice(i, i + 1) : slice(0, 0)),
    finish_reason: null,
  }));
  const last = isChat ? { delta: {} } : { text: "" };
  return [...events, { index, ...last, ...slice(spread), ...finishOf(drawn, called) }];
}

function usageOf(prompt: Int32Array, samples: readonly Drawn[]): object {
  const drawn = samples.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return {
    prompt_tokens: prompt.length,
    completion_tokens: drawn,
    total_tokens: prompt.length + drawn,
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export async function startVllmStandIn(
  answers: readonly string[],
  contextLength: number,
): Promise<VllmStandIn> {
  const sampler = scriptedSampler(
    ({ index }) => answers[Math.min(index, answers.length - 1)] ?? "",
    { contextLength },
  );

  const sent: WireRequest[] = [];

  async function complete(wire: WireRequest, response: ServerResponse): Promise<void> {
    sent.push(wire);
    const tokens = promptOf(wire);
    const { n = 1, stop = [] } = wire;
    const room = contextLength - tokens.length;
    const { max_tokens: maxTokens = room } = wire;
    if (room < 1 || (wire.messages && maxTokens > room)) {
      const message = `This model's maximum context length is ${contextLength} tokens. However, you requested ${wire.max_tokens ?? 0} output tokens and your prompt contains ${tokens.length} input tokens.`;
      send(response, 400, {
        error: { message, type: "BadRequestError", param: "input_tokens", code: 400 },
      });
      return;
    }
    const params = { temperature: 1, topP: 1, topK: 0, minP: 0, maxTokens, seed: 0 };
    const stopTokenIds = [byteTokens.turnEnd];
    const drawn = await sampler.sample({ tokens, n, params: { ...params, stopTokenIds } });
    const samples = drawn.map((sample) => cutAtStop(sample, stop));
    const head = { id: "cmpl-1", created: 1, model, prompt_token_ids: Array.from(tokens) };
    const usage = usageOf(tokens, samples);
    if (wire.stream !== true) {
      const choices = samples.map((sample, i) => wholeChoice(sample, i, wire));
      send(response, 200, { ...head, object: "chat.completion", choices, usage });
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    const write = (event: object): void =>
      void response.write(`data: ${JSON.stringify(event)}\n\n`);
    let isFirst = true;
    for (const [i, sample] of samples.entries()) {
      for (const choice of eventsOf(sample, i, wire)) {
        write({ ...head, ...(isFirst ? {} : { prompt_token_ids: undefined }), choices: [choice] });
        isFirst = false;
      }
    }
    write({ ...head, prompt_token_ids: undefined, choices: [], usage });
    response.end("data: [DONE]\n\n");
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    if (path === "/health") response.writeHead(200).end();
    else if (path === "/version") send(response, 200, { version: "0.20.2" });
    else if (path === "/v1/models") {
      send(response, 200, { object: "list", data: [{ id: model, max_model_len: contextLength }] });
    } else if (path === "/tokenize") {
      const tokens = promptOf(JSON.parse(await readBody(request)) as WireRequest);
      send(response, 200, { count: tokens.length, tokens: Array.from(tokens) });
    } else if (path === "/v1/completions" || path === "/v1/chat/completions") {
      await complete(JSON.parse(await readBody(request)) as WireRequest, response);
    } else send(response, 404, { detail: "Not Found" });
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      send(response, 500, { error: { message: String(error), code: 500 } });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    sent,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
