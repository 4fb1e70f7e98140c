/**
 * A completion as it is sampled to a message: reasoning, content and tool calls. Whatever is decided is decided once,
 * from left to right, so that what was shown of a growing completion is always the beginning of the whole.
 */
import { defined } from "../util/defined.ts";
import { MarkedText, type Markup } from "./marked-text.ts";
import type { ToolDefinition } from "./message.ts";
import type { CompletionReader, ParsedCompletion, ReadOptions, TextDelta } from "./policy.ts";

type Call = ParsedCompletion["toolCalls"][number];

/** Calls that were read. */
export interface FoundCalls {
  /** Where they end. */
  readonly end: number;
  /** Empty where they cannot be read; their text then is content. */
  readonly calls: readonly Call[];
  /** Why they cannot be read, or in what they differ from their tools. */
  readonly malformed?: string;
}

/** How a family writes calls. */
export interface CallSyntax {
  /** The markup of calls. */
  readonly marks: readonly string[];
  /**
   * Where calls begin, from `from` on, or up to where they certainly do not begin.
   * @param isStart whether nothing but white space is before `from`
   */
  find(
    text: MarkedText,
    from: number,
    isStart: boolean,
  ): { readonly at: number; readonly isFound: boolean };
  /**
   * Asked again when there is more text; null until it can be said, which it can where the text is whole.
   * @param tools what the request offered; undefined where that is not known
   */
  open(
    text: MarkedText,
    at: number,
    tools: readonly ToolDefinition[] | undefined,
  ): () => FoundCalls | null;
}

/** How a family writes completions. */
export interface CompletionSyntax extends Markup {
  /** @default calls are text */
  readonly calls?: CallSyntax;
  /** Markup around the reasoning that a completion begins with. @default none is read */
  readonly reasoning?: {
    readonly start: string;
    readonly end: string;
    /** Whether the prompt has opened it. @default false */
    readonly isOpen?: (thinking: boolean | undefined) => boolean;
  };
  /** A character that begins every completion and is not content. @default none */
  readonly prefix?: string;
}

interface OpenCalls {
  readonly from: number;
  readonly read: () => FoundCalls | null;
}

type State = "start" | "reasoning" | "content";

class SyntaxReader implements CompletionReader {
  readonly #text: MarkedText;
  readonly #syntax: CompletionSyntax;
  readonly #calls: CallSyntax | undefined;
  readonly #options: ReadOptions;
  #state: State = "start";
  /** Everything before it is decided. */
  #at = 0;
  /** Line breaks that follow are not content. */
  #skipsLines = false;
  #open: OpenCalls | null = null;
  /** White space that is content only where text or nothing follows. */
  #held = "";
  #content = "";
  #reasoning = "";
  /** What became certain since the last tokens. */
  #delta: TextDelta = { content: "", reasoning: "" };
  #malformed: string | undefined;
  readonly #toolCalls: Call[] = [];

  constructor(syntax: CompletionSyntax, options: ReadOptions) {
    this.#syntax = syntax;
    this.#options = options;
    const { calls, reasoning } = syntax;
    this.#calls = options.tools?.length === 0 ? undefined : calls;
    const marks = [
      ...(calls?.marks ?? []),
      ...(reasoning === undefined ? [] : [reasoning.start, reasoning.end]),
    ];
    this.#text = new MarkedText(syntax, marks, options.stops);
  }

  get stopString(): string | undefined {
    return this.#text.stopString;
  }

  get length(): number {
    return this.#text.tokens;
  }

  push(tokens: Int32Array): TextDelta {
    this.#delta = { content: "", reasoning: "" };
    this.#text.push(tokens);
    while (this.#step());
    return this.#delta;
  }

  finish(): ParsedCompletion {
    this.#text.finish();
    while (this.#step());
    if (this.#toolCalls.length === 0) this.#show(this.#held, "");
    return {
      content: this.#content,
      toolCalls: this.#toolCalls,
      // An empty block is no reasoning.
      ...(this.#reasoning === "" ? {} : { reasoning: this.#reasoning }),
      ...defined({ malformed: this.#malformed }),
    };
  }

  /** Whether there may be another step. */
  #step(): boolean {
    if (this.#state === "start") return this.#start();
    if (this.#state === "reasoning") return this.#reason();
    if (this.#open !== null) return this.#call(this.#open);
    return this.#write();
  }

  #start(): boolean {
    const { reasoning, prefix = "" } = this.#syntax;
    const { isWhole } = this.#text;
    const text = this.#text.slice(0);
    const begins = text.length - text.trimStart().length;
    if (begins === text.length && !isWhole) return false;
    if (reasoning !== undefined) {
      const { start, isOpen } = reasoning;
      if (this.#text.find(start, begins) === begins) {
        this.#at = begins + start.length;
        this.#state = "reasoning";
        return true;
      }
      if (this.#text.certainWithout(start) === begins && !isWhole) return false;
      if (isOpen?.(this.#options.thinking) === true) {
        this.#state = "reasoning";
        return true;
      }
    }
    this.#state = "content";
    if (prefix !== "" && text.startsWith(prefix)) this.#at = prefix.length;
    return true;
  }

  #reason(): boolean {
    const { end } = this.#syntax.reasoning!;
    const found = this.#text.find(end, this.#at);
    const to = found === -1 ? this.#text.certainWithout(end) : found;
    const piece = this.#text.slice(this.#at, to);
    // Line breaks at either end are the template's.
    let [first, last] = [0, piece.length];
    if (this.#reasoning === "") while (piece[first] === "\n") first++;
    while (last > first && piece[last - 1] === "\n") last--;
    this.#show("", piece.slice(first, last));
    this.#moveTo(this.#at + last);
    if (found === -1) return false;
    this.#moveTo(found + end.length);
    this.#state = "content";
    this.#skipsLines = true;
    return true;
  }

  #write(): boolean {
    if (this.#skipsLines) {
      const text = this.#text.slice(this.#at);
      let first = 0;
      while (text[first] === "\n") first++;
      this.#moveTo(this.#at + first);
      if (first === text.length) return false;
      this.#skipsLines = false;
    }
    const isStart = this.#content === "" && this.#toolCalls.length === 0;
    const start = this.#calls?.find(this.#text, this.#at, isStart);
    const to = Math.max(this.#at, start?.at ?? this.#text.length);
    this.#add(this.#text.slice(this.#at, to));
    this.#moveTo(to);
    if (start?.isFound !== true) return false;
    this.#open = { from: to, read: this.#calls!.open(this.#text, to, this.#options.tools) };
    return true;
  }

  #call({ from, read }: OpenCalls): boolean {
    const found = read();
    if (found === null) return false;
    const { end, calls, malformed } = found;
    this.#malformed ??= malformed;
    if (calls.length === 0) this.#add(this.#text.slice(from, end));
    this.#toolCalls.push(...calls);
    this.#moveTo(end);
    this.#open = null;
    return true;
  }

  #moveTo(at: number): void {
    this.#at = at;
    this.#text.release(at);
  }

  #show(content: string, reasoning: string): void {
    this.#content += content;
    this.#reasoning += reasoning;
    this.#delta = {
      content: this.#delta.content + content,
      reasoning: this.#delta.reasoning + reasoning,
    };
  }

  #add(piece: string): void {
    if (this.#calls === undefined) {
      this.#show(piece, "");
      return;
    }
    const all = this.#held + piece;
    const shown = all.trimEnd();
    this.#held = all.slice(shown.length);
    // White space around calls is not content, but between two texts it is.
    const isFirst = this.#content === "" && this.#toolCalls.length > 0;
    this.#show(isFirst ? shown.trimStart() : shown, "");
  }
}

/** The reader of a family's completions. */
export function createCompletionReader(
  syntax: CompletionSyntax,
  options: ReadOptions = {},
): CompletionReader {
  return new SyntaxReader(syntax, options);
}

/** All of a completion at once. */
export function readWhole(reader: CompletionReader, tokens: Int32Array): ParsedCompletion {
  reader.push(tokens);
  return reader.finish();
}
