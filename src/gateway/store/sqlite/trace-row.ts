/**
 * A trace as a row and back. A prompt is stored as an earlier trace of its session and what is new; the
 * same goes for messages and tools; choices of one call share all of these. Fields that are not named
 * here are kept as JSON, so a new field of `Trace` needs no change.
 */
import type { ChatMessage, ToolDefinition } from "../../../core/message.ts";
import type { Trace } from "../../../core/trace.ts";
import { commonPrefix, hasPrefix } from "../../../util/token-prefix.ts";
import type { KnownTrace } from "./known-traces.ts";
import { packJson, unpackJson } from "./packed-json.ts";
import { joinedTokens } from "../joined-tokens.ts";
import { sameJson } from "./same-json.ts";
import { countIds, packIds, unpackIds } from "./id-codec.ts";

export interface TraceRow {
  readonly id: number;
  readonly uid: Uint8Array | string;
  readonly sequence: number;
  readonly choice: number;
  /** Row of the choice that holds the prompt and the request; null when this one does. */
  readonly head: number | null;
  /** Row that the prompt begins as. */
  readonly base: number | null;
  /** Tokens taken from `base`. */
  readonly kept: number;
  /** The rest of the prompt. */
  readonly prompt: Uint8Array | null;
  readonly response: Uint8Array;
  /** Little-endian float32: `logprobs`, then `temperedLogprobs`. */
  readonly logprobs: Uint8Array;
  readonly body: Uint8Array;
  readonly finished: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** What `TraceRow.body` packs. */
interface Body {
  readonly fields: Fields;
  /** Of the head's fields, those that this choice lacks. */
  readonly absent?: readonly string[];
  /** Messages taken from `base`: those of its request, then its response. */
  readonly kept?: number;
  readonly messages?: readonly ChatMessage[];
  /** Numbers at the end of the row's `logprobs` that are `temperedLogprobs`; absent without any. */
  readonly tempered?: number;
  /** Absent when they are those of `base`, or none. */
  readonly tools?: readonly ToolDefinition[];
}

/** The fields that neither a column nor the shared part holds. */
function fieldsOf(trace: Trace): Fields {
  const {
    id: _id,
    sessionUid: _sessionUid,
    sequence: _sequence,
    choice: _choice,
    messages: _messages,
    tools: _tools,
    promptIds: _promptIds,
    responseIds: _responseIds,
    logprobs: _logprobs,
    temperedLogprobs: _temperedLogprobs,
    finishedAt: _finishedAt,
    ...fields
  } = trace;
  return fields;
}

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

export function packUid(uid: string): Uint8Array | string {
  return uuid.test(uid) ? Buffer.from(uid.replaceAll("-", ""), "hex") : uid;
}

function unpackUid(uid: Uint8Array | string): string {
  if (typeof uid === "string") return uid;
  const hex = Buffer.from(uid).toString("hex");
  return [0, 8, 12, 16, 20].map((at, i, all) => hex.slice(at, all[i + 1])).join("-");
}

function bytesOf(values: Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function packLogprobs({ logprobs, temperedLogprobs }: Trace): Uint8Array {
  if (temperedLogprobs === undefined) return bytesOf(logprobs);
  return Buffer.concat([bytesOf(logprobs), bytesOf(temperedLogprobs)]);
}

function unpackLogprobs(
  bytes: Uint8Array,
  tempered: number | undefined,
): Pick<Trace, "logprobs" | "temperedLogprobs"> {
  // A copy, because bytes of a row may begin anywhere.
  const all = new Float32Array(Uint8Array.from(bytes).buffer);
  if (tempered === undefined) return { logprobs: all };
  const at = all.length - tempered;
  return { logprobs: all.subarray(0, at), temperedLogprobs: all.subarray(at) };
}

/** How many messages a request has in common with `base` and its response. */
export function keptMessages(messages: readonly ChatMessage[], base: Trace): number {
  let kept = 0;
  while (kept < messages.length && kept < base.messages.length) {
    if (!sameJson(messages[kept], base.messages[kept])) return kept;
    kept++;
  }
  return kept < messages.length && sameJson(messages[kept], base.response) ? kept + 1 : kept;
}

function takeMessages(base: Trace, kept: number): ChatMessage[] {
  const taken = base.messages.slice(0, kept);
  if (kept > base.messages.length) taken.push(base.response);
  return taken;
}

/** In their order of keys, too, which a prompt has. */
const hasTools = (trace: Trace, tools: readonly ToolDefinition[]): boolean =>
  trace.tools === tools || JSON.stringify(trace.tools) === JSON.stringify(tools);

function isSibling(trace: Trace, head: Trace): boolean {
  return (
    trace.sequence === head.sequence &&
    trace.promptIds.length === head.promptIds.length &&
    hasPrefix(trace.promptIds, head.promptIds) &&
    sameJson(trace.messages, head.messages) &&
    hasTools(trace, head.tools)
  );
}

export interface PackedTrace {
  readonly row: TraceRow;
  readonly known: KnownTrace;
}

function pack(
  id: number,
  trace: Trace,
  shared: Pick<TraceRow, "head" | "base" | "kept" | "prompt">,
  body: Body,
): TraceRow {
  const tempered = trace.temperedLogprobs?.length;
  return {
    id,
    uid: packUid(trace.id),
    sequence: trace.sequence,
    choice: trace.choice,
    ...shared,
    response: packIds(trace.responseIds),
    logprobs: packLogprobs(trace),
    body: packJson(tempered === undefined ? body : { ...body, tempered }),
    finished: trace.finishedAt,
  };
}

/** A choice of the same call as `head`, or null when they have too little in common. */
export function packSibling(id: number, trace: Trace, head: KnownTrace): PackedTrace | null {
  if (!isSibling(trace, head.trace)) return null;
  const fields = fieldsOf(trace);
  const known = fieldsOf(head.trace);
  const body = {
    fields: Object.fromEntries(
      Object.entries(fields).filter(([name, value]) => !sameJson(value, known[name])),
    ),
    absent: Object.keys(known).filter((name) => fields[name] === undefined),
  };
  const row = pack(id, trace, { head: head.id, base: null, kept: 0, prompt: null }, body);
  return { row, known: { id, trace, tokens: joinedTokens(trace) } };
}

export function packTrace(id: number, trace: Trace, base: KnownTrace | undefined): PackedTrace {
  const kept = base ? commonPrefix(trace.promptIds, base.tokens) : 0;
  const keptCount = base ? keptMessages(trace.messages, base.trace) : 0;
  const isShared = base !== undefined && (kept > 0 || keptCount > 0);
  const { parentId, ...fields } = fieldsOf(trace);
  const isParent = isShared && parentId === base.trace.id;
  const tools = isShared ? base.trace.tools : [];
  const body: Body = {
    fields: isParent ? fields : { ...fields, parentId },
    ...(keptCount > 0 ? { kept: keptCount } : {}),
    messages: trace.messages.slice(keptCount),
    ...(hasTools(trace, tools) ? {} : { tools: trace.tools }),
  };
  const shared = {
    head: null,
    base: isShared ? base.id : null,
    kept,
    prompt: packIds(trace.promptIds, kept),
  };
  // Kept messages and tools are the objects of `base`, so that memory holds a conversation once.
  const lean =
    isShared && keptCount > 0
      ? {
          ...trace,
          messages: [...takeMessages(base.trace, keptCount), ...trace.messages.slice(keptCount)],
          tools: body.tools ?? tools,
        }
      : trace;
  return {
    row: pack(id, trace, shared, body),
    known: {
      id,
      trace: lean,
      tokens: joinedTokens(trace),
      ...(isShared ? { baseUid: base.trace.id } : {}),
    },
  };
}

/** `origin`: the row's `head`, else its `base`, else undefined. */
export function unpackTrace(
  row: TraceRow,
  sessionUid: string,
  origin: KnownTrace | undefined,
): KnownTrace {
  const body = unpackJson(row.body) as Body;
  const isChoice = row.head !== null;
  const kept = isChoice ? (origin?.trace.promptIds.length ?? 0) : row.kept;
  const promptLength = kept + (row.prompt ? countIds(row.prompt) : 0);
  const tokens = new Int32Array(promptLength + countIds(row.response));
  if (origin) tokens.set(origin.tokens.subarray(0, kept));
  if (row.prompt) unpackIds(row.prompt, tokens, kept);
  unpackIds(row.response, tokens, promptLength);
  const inherited: Record<string, unknown> =
    isChoice && origin
      ? { ...fieldsOf(origin.trace) }
      : { parentId: origin ? origin.trace.id : null };
  for (const name of body.absent ?? []) delete inherited[name];
  const messages =
    isChoice && origin
      ? origin.trace.messages
      : [...(origin ? takeMessages(origin.trace, body.kept ?? 0) : []), ...(body.messages ?? [])];
  const trace = {
    ...inherited,
    ...body.fields,
    id: unpackUid(row.uid),
    sessionUid,
    sequence: row.sequence,
    choice: row.choice,
    messages,
    tools: body.tools ?? origin?.trace.tools ?? [],
    promptIds: tokens.subarray(0, promptLength),
    responseIds: tokens.subarray(promptLength),
    ...unpackLogprobs(row.logprobs, body.tempered),
    finishedAt: row.finished,
  } as unknown as Trace;
  return { id: row.id, trace, tokens };
}
