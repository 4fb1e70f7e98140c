/**
 * What of a growing completion may already be shown to a streaming client: text that neither a tool
 * call, nor reasoning, nor a stop string, nor trimming can take back.
 */
import type { ChatMessage } from "../../core/message.ts";
import type { ParsedCompletion, Renderer } from "../../core/policy.ts";
import { messageText } from "../../core/message-text.ts";
import { findStop, partialStopLength, type TextReader } from "./text-reader.ts";

/** Newly certain text of one choice. */
export interface TextDelta {
  readonly content: string;
  readonly reasoning: string;
}

/** How model families open (or close) what is not content. */
const markers = ["<think", "</think", "<tool", "<function", "<|", "[TOOL"];
/** In structured text, parse again only when it has grown by this much: keeps long streams linear. */
const reparseGrowth = 1 / 32;

/**
 * `direct`: what the reader gives is content, from `offset` on; `structured`: only the renderer can
 * say, so all of it is parsed each time; `held`: nothing is certain until the end.
 */
type Mode = { kind: "undecided" | "structured" | "held" } | { kind: "direct"; offset: number };

function certainPart(text: string, stops: readonly string[]): string {
  const markerAt = findStop(text, markers);
  const open = markerAt === -1 ? text : text.slice(0, markerAt);
  const held = Math.max(partialStopLength(open, markers), partialStopLength(open, stops));
  // Renderers trim, and U+FFFD may be the first half of a character.
  return open.slice(0, open.length - held).replace(/[\s\uFFFD]+$/, "");
}

/** The text that was not shown yet; nothing when what was shown turned out otherwise. */
function rest(whole: string, shown: string): string {
  return whole.startsWith(shown) ? whole.slice(shown.length) : "";
}

export interface DeltaReaderOptions {
  readonly toolsOffered: boolean;
  /** All of it is content, and no renderer trims it. */
  readonly raw: boolean;
}

/** U+FFFD may be the first half of a character. */
function certainRawPart(text: string, stops: readonly string[]): string {
  return text.slice(0, text.length - partialStopLength(text, stops)).replace(/\uFFFD+$/, "");
}

export class DeltaReader {
  readonly #renderer: Renderer;
  readonly #stops: readonly string[];
  readonly #options: DeltaReaderOptions;
  #mode: Mode = { kind: "undecided" };
  #parsedLength = 0;
  #content = "";
  #reasoning = "";

  constructor(renderer: Renderer, stops: readonly string[], options: DeltaReaderOptions) {
    this.#renderer = renderer;
    this.#stops = stops;
    this.#options = options;
  }

  /** Call after each `push` of the reader. */
  update(reader: TextReader): TextDelta | null {
    if (this.#options.raw) {
      return this.#add(certainRawPart(reader.text.slice(this.#content.length), this.#stops), "");
    }
    if (this.#mode.kind === "undecided") this.#decide(reader);
    if (this.#mode.kind === "direct") {
      if (findStop(reader.text, markers, this.#parsedLength) !== -1) {
        this.#mode = { kind: "structured" };
      } else {
        // A marker may begin in text already searched.
        this.#parsedLength = Math.max(0, reader.text.length - 16);
        return this.#show(reader.text.slice(this.#mode.offset + this.#content.length), "");
      }
    }
    if (this.#mode.kind !== "structured") return null;
    if (reader.text.length <= this.#parsedLength * (1 + reparseGrowth)) return null;
    const parsed = this.#parse(reader);
    return this.#show(
      rest(parsed.content, this.#content),
      rest(parsed.reasoning ?? "", this.#reasoning),
    );
  }

  /**
   * What is left to show of the finished message. `message` is corrected where the client has already
   * been shown something else, so that a trace never claims what was not sent.
   */
  finish(message: ChatMessage): { readonly delta: TextDelta; readonly message: ChatMessage } {
    const content = messageText(message.content, { image: "url" });
    const delta = {
      content: rest(content, this.#content),
      reasoning: rest(message.reasoning ?? "", this.#reasoning),
    };
    if (content.startsWith(this.#content)) return { delta, message };
    return { delta, message: { ...message, content: this.#content } };
  }

  #decide(reader: TextReader): void {
    const start = reader.text.trimStart();
    if (start === "") return;
    // Some families write tool calls as bare JSON.
    if (this.#options.toolsOffered && (start.startsWith("{") || start.startsWith("["))) {
      this.#mode = { kind: "held" };
      return;
    }
    const parsed = this.#parse(reader);
    if (parsed.reasoning !== undefined) this.#mode = { kind: "structured" };
    else {
      const trims = !parsed.content.startsWith(reader.text.charAt(0));
      this.#mode = { kind: "direct", offset: trims ? reader.text.length - start.length : 0 };
      this.#parsedLength = 0;
    }
  }

  #parse(reader: TextReader): ParsedCompletion {
    this.#parsedLength = reader.text.length;
    return this.#renderer.parse(reader.tokens);
  }

  #show(newContent: string, newReasoning: string): TextDelta | null {
    const content = certainPart(newContent, this.#stops);
    const reasoning = certainPart(newReasoning, this.#stops);
    return this.#add(content, reasoning);
  }

  #add(content: string, reasoning: string): TextDelta | null {
    if (content === "" && reasoning === "") return null;
    this.#content += content;
    this.#reasoning += reasoning;
    return { content, reasoning };
  }
}
