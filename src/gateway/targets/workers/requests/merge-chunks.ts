/**
 * Chunks that arrived together as one: what reads them then costs once instead of per token. Only parts that
 * simply continue their choice are merged; where a server repeats or omits tokens, every part stays as it is.
 */
import { defined } from "../../../../util/defined.ts";
import type { ResponseChunk, ResponsePart } from "../adapters/response-part.ts";

/** A part that others are appended to. */
interface OpenPart {
  readonly choice: number;
  tokens: number[];
  logprobs: (number | null)[];
  texts: NonNullable<ResponsePart["texts"]>[number][];
  toolCalls: NonNullable<ResponsePart["toolCalls"]>[number][];
  sampled: number | undefined;
  content: string | undefined;
  reasoning: string | undefined;
  finish: string | undefined;
  stopString: string | undefined;
  unreadable: string | undefined;
}

function append(open: OpenPart, part: ResponsePart): void {
  const { tokens = [], logprobs = [], texts = [], toolCalls = [] } = part;
  for (let i = 0; i < tokens.length; i++) {
    open.tokens.push(tokens[i] as number);
    open.logprobs.push(logprobs[i] ?? null);
  }
  open.texts.push(...texts);
  open.toolCalls.push(...toolCalls);
  if (tokens.length > 0) open.sampled = part.sampled;
  if (part.content !== undefined) open.content = (open.content ?? "") + part.content;
  if (part.reasoning !== undefined) open.reasoning = (open.reasoning ?? "") + part.reasoning;
  open.finish ??= part.finish;
  open.stopString ??= part.stopString;
  open.unreadable ??= part.unreadable;
}

function close({ tokens, logprobs, texts, toolCalls, ...rest }: OpenPart): ResponsePart {
  const { choice, ...fields } = rest;
  return {
    choice,
    ...(tokens.length === 0 ? {} : { tokens, logprobs }),
    ...(texts.length === 0 ? {} : { texts }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...defined(fields),
  };
}

/** Reasoning is shown before content, so it cannot be merged into what has content. */
function isOutOfOrder(open: OpenPart | undefined, { reasoning = "" }: ResponsePart): boolean {
  return reasoning !== "" && open?.content !== undefined && open.content !== "";
}

/** Merges the chunks of one response. */
export class ChunkMerger {
  /** Tokens of each choice so far. */
  readonly #known = new Map<number, number>();
  /** A part has repeated or omitted tokens, and a server that does so once may do it again. */
  #isPlain = true;

  /** The same, in fewer chunks. */
  merge(chunks: readonly ResponseChunk[]): readonly ResponseChunk[] {
    if (!this.#isPlain) return chunks;
    const merged: ResponseChunk[] = [];
    let start = 0;
    while (start < chunks.length) {
      const { chunk, end } = this.#run(chunks, start);
      if (!this.#isPlain) return [...merged, ...chunks.slice(start)];
      merged.push(chunk);
      start = end;
    }
    return merged;
  }

  /** Those from `start` on that make one. */
  #run(
    chunks: readonly ResponseChunk[],
    start: number,
  ): { readonly chunk: ResponseChunk; readonly end: number } {
    const open = new Map<number, OpenPart>();
    let promptIds: ResponseChunk["promptIds"];
    let usage: ResponseChunk["usage"];
    let end = start;
    for (; end < chunks.length; end++) {
      const chunk = chunks[end] as ResponseChunk;
      if (chunk.parts.some((part) => isOutOfOrder(open.get(part.choice), part))) break;
      for (const part of chunk.parts) {
        this.#count(part);
        if (!this.#isPlain) return { chunk, end };
        append(this.#openPart(open, part.choice), part);
      }
      promptIds ??= chunk.promptIds;
      usage = chunk.usage ?? usage;
    }
    const parts = Array.from(open.values(), close);
    return { chunk: { ...defined({ promptIds, usage }), parts }, end };
  }

  #openPart(open: Map<number, OpenPart>, choice: number): OpenPart {
    const known = open.get(choice);
    if (known) return known;
    const made: OpenPart = {
      choice,
      tokens: [],
      logprobs: [],
      texts: [],
      toolCalls: [],
      sampled: undefined,
      content: undefined,
      reasoning: undefined,
      finish: undefined,
      stopString: undefined,
      unreadable: undefined,
    };
    open.set(choice, made);
    return made;
  }

  #count({ choice, tokens = [], logprobs = [], sampled, finish }: ResponsePart): void {
    const known = this.#known.get(choice) ?? 0;
    const all = known + tokens.length;
    const isContinued = tokens.length === 0 || sampled === undefined || sampled === all;
    // Those without tokens, or without some, are counted by who collects them.
    const hasOwn = logprobs.length <= tokens.length;
    this.#isPlain = isContinued && hasOwn && finish !== "abort";
    this.#known.set(choice, all);
  }
}
