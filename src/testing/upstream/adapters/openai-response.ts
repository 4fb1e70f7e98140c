/**
 * Responses of OpenAI's chat and text completions over the byte renderer: whole, and in events whose chunks
 * split the arguments of tool calls. Where ids are depends on the server: next to the text, with the
 * prompt's (vLLM); among the log-probabilities (llama.cpp); nowhere.
 */
import { createByteRenderer } from "../../byte-renderer.ts";
import { completesCharacter, visibleText, type Sampled } from "../sampled.ts";
import type { UpstreamRequest, UpstreamAdapter } from "./adapter.ts";

export interface OpenAiResponseOptions {
  readonly ids: "choice" | "logprobs" | "none";
}

interface WireCall {
  readonly id: string;
  readonly type: "function";
  readonly index: number;
  readonly function: { readonly name: string; readonly arguments: string };
}

interface WireResponse {
  readonly role: "assistant";
  readonly content: string | null;
  readonly reasoning_content: string | null;
  readonly tool_calls: readonly WireCall[];
}

type Ids = OpenAiResponseOptions["ids"];

const renderer = createByteRenderer();

const isChat = ({ body }: UpstreamRequest): boolean => body["messages"] !== undefined;

/** The sampled token comes first, as vLLM has it, then a more likely one. */
function toChatToken(id: number, logprob: number | undefined, count: number, ids: Ids): object {
  const token = renderer.decode(Int32Array.of(id));
  const tops = [
    { token, logprob, bytes: null },
    { token: "other", logprob: -0.001, bytes: null },
  ];
  const own = ids === "logprobs" ? { id } : {};
  return { ...own, token, logprob, bytes: null, top_logprobs: tops.slice(0, count) };
}

/** `reported`: of which tokens; of all where absent. */
function logprobsOf(
  { tokens, logprobs }: Sampled,
  request: UpstreamRequest,
  where: Ids,
  reported?: readonly boolean[],
): object | null {
  const requested = request.body["logprobs"];
  if (requested === undefined || requested === false || requested === null) return null;
  const ids = Array.from(tokens);
  if (isChat(request)) {
    const count = Number(request.body["top_logprobs"] ?? 0);
    return {
      content: ids.flatMap((id, i) =>
        reported?.[i] === false ? [] : [toChatToken(id, logprobs[i], count, where)],
      ),
    };
  }
  return {
    tokens: ids.map((id) =>
      where === "choice" ? `token_id:${id}` : renderer.decode(Int32Array.of(id)),
    ),
    token_logprobs: Array.from(logprobs),
    top_logprobs: null,
    text_offset: [],
  };
}

function messageOf(sampled: Sampled, { body }: UpstreamRequest): WireResponse {
  const text = visibleText(sampled);
  const parsed = renderer.parse(Int32Array.from(new TextEncoder().encode(text)));
  const hasTools = Array.isArray(body["tools"]) && body["tools"].length > 0;
  const content = !hasTools && parsed.toolCalls.length > 0 ? text : parsed.content;
  return {
    role: "assistant",
    content: content === "" ? null : content,
    reasoning_content: parsed.reasoning ?? null,
    tool_calls: (hasTools ? parsed.toolCalls : []).map((called, index) => ({
      id: `chatcmpl-tool-${index}`,
      type: "function",
      index,
      function: called,
    })),
  };
}

function finishOf({ stopReason, stop }: Sampled, calls: readonly WireCall[]): object {
  const reason = stopReason === "length" ? "length" : calls.length > 0 ? "tool_calls" : "stop";
  return { finish_reason: reason, stop_reason: stop ?? null };
}

/** Servers that report ids among the log-probabilities report them by the character. */
function reportedOf({ tokens }: Sampled, ids: Ids): readonly boolean[] | undefined {
  return ids === "logprobs" ? completesCharacter(tokens) : undefined;
}

/** Of a whole response, they drop the stop string, too. */
function reportedOfWhole(sampled: Sampled, ids: Ids): readonly boolean[] | undefined {
  const { stop, tokens } = sampled;
  const end = tokens.length - (stop === undefined ? 0 : Buffer.byteLength(stop));
  return reportedOf(sampled, ids)?.map((isReported, i) => isReported && i < end);
}

function wholeChoice(sampled: Sampled, index: number, request: UpstreamRequest, ids: Ids): object {
  const message = isChat(request) ? messageOf(sampled, request) : undefined;
  return {
    index,
    ...(message ? { message } : { text: visibleText(sampled) }),
    logprobs: logprobsOf(sampled, request, ids, reportedOfWhole(sampled, ids)),
    ...finishOf(sampled, message?.tool_calls ?? []),
    ...(ids === "choice" ? { token_ids: Array.from(sampled.tokens) } : {}),
  };
}

/** Text in chunks that never split a character, and arguments of calls in halves. */
function* deltasOf(sampled: Sampled, request: UpstreamRequest): Generator<object> {
  if (!isChat(request)) {
    for (const character of visibleText(sampled)) yield { text: character };
    return;
  }
  const message = messageOf(sampled, request);
  yield { delta: { role: "assistant", content: "" } };
  for (const character of message.reasoning_content ?? "") {
    yield { delta: { reasoning_content: character } };
  }
  for (const character of message.content ?? "") yield { delta: { content: character } };
  for (const { index, id, function: called } of message.tool_calls) {
    const { name, arguments: text } = called;
    const half = Math.ceil(text.length / 2);
    const head = { index, id, type: "function", function: { name, arguments: "" } };
    yield { delta: { tool_calls: [head] } };
    for (const piece of [text.slice(0, half), text.slice(half)]) {
      yield { delta: { tool_calls: [{ index, function: { arguments: piece } }] } };
    }
  }
}

/** Ids are spread over the events of a choice; the last one has what is left, and the end. */
function eventsOf(sampled: Sampled, index: number, request: UpstreamRequest, ids: Ids): object[] {
  const deltas = [...deltasOf(sampled, request)];
  const reported = reportedOf(sampled, ids);
  const slice = (from: number, to?: number): object => {
    const tokens = sampled.tokens.slice(from, to);
    const own = { ...sampled, tokens, logprobs: sampled.logprobs.slice(from, to) };
    return {
      logprobs:
        tokens.length === 0 ? null : logprobsOf(own, request, ids, reported?.slice(from, to)),
      ...(ids === "choice" ? { token_ids: Array.from(tokens) } : {}),
    };
  };
  const spread = Math.min(deltas.length, sampled.tokens.length);
  const events = deltas.map((delta, i) => {
    const own = i < spread ? slice(i, i + 1) : slice(0, 0);
    return { index, ...delta, ...own, finish_reason: null };
  });
  const calls = isChat(request) ? messageOf(sampled, request).tool_calls : [];
  const last = isChat(request) ? { delta: {} } : { text: "" };
  return [...events, { index, ...last, ...slice(spread), ...finishOf(sampled, calls) }];
}

function usageOf({ prompt }: UpstreamRequest, sampled: readonly Sampled[]): object {
  const counted = sampled.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const { length } = prompt;
  return { prompt_tokens: length, completion_tokens: counted, total_tokens: length + counted };
}

interface WireChoice {
  readonly token_ids?: readonly number[];
}

/** One for each event, where the caller requested continuous usage. */
function runningUsage(
  request: UpstreamRequest,
  choices: readonly WireChoice[],
): object[] | undefined {
  const requested = request.body["stream_options"] as
    | { continuous_usage_stats?: boolean }
    | undefined;
  if (requested?.continuous_usage_stats !== true) return undefined;
  const { length } = request.prompt;
  let sampled = 0;
  return choices.map(({ token_ids: ids = [] }) => {
    sampled += ids.length;
    return { prompt_tokens: length, completion_tokens: sampled, total_tokens: length + sampled };
  });
}

/** `whole` and `events` of an adapter that responds in OpenAI's shapes. */
export function openAiResponse({
  ids,
}: OpenAiResponseOptions): Pick<UpstreamAdapter, "whole" | "events" | "end"> {
  const headOf = (request: UpstreamRequest, model: string): object => ({
    id: "cmpl-1",
    object: isChat(request) ? "chat.completion" : "text_completion",
    created: 1,
    model,
  });
  const promptIds = ({ prompt }: UpstreamRequest): object =>
    ids === "choice" ? { prompt_token_ids: Array.from(prompt) } : {};
  return {
    end: "data: [DONE]\n\n",
    whole: (request, sampled, model) => ({
      ...headOf(request, model),
      ...promptIds(request),
      choices: sampled.map((each, i) => wholeChoice(each, i, request, ids)),
      usage: usageOf(request, sampled),
    }),
    events: (request, sampled, model) => {
      const head = headOf(request, model);
      const choices = sampled.flatMap((each, i) => eventsOf(each, i, request, ids));
      const usages = runningUsage(request, choices);
      return [
        ...choices.map((choice, i) => ({
          ...head,
          ...(i === 0 ? promptIds(request) : {}),
          choices: [choice],
          ...(usages ? { usage: usages[i] } : {}),
        })),
        { ...head, choices: [], usage: usageOf(request, sampled) },
      ];
    },
  };
}
