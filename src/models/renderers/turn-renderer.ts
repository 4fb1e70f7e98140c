/**
 * What all native families share: a prompt is turns, then the opening of the assistant's next turn; a
 * later prompt is the previous ids, the end of their last turn, and new turns.
 */
import { joinTokens } from "../../util/token-prefix.ts";
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import type { ParsedCompletion, Renderer } from "../../core/policy.ts";
import { createRenderer, roomAfter } from "./create-renderer.ts";
import { buildTokens, markup, type Part } from "./token-builder.ts";
import { defined } from "../../util/defined.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";

export interface TurnFormat {
  readonly family: string;
  /** The token that ends an assistant's turn. */
  readonly end: string;
  /** Further tokens that end sampling; those the vocabulary lacks are skipped. */
  readonly otherStops: readonly string[];
  /** Stop tokens that need no `end` after them when a conversation continues. */
  readonly endsToo: readonly string[];
  /** The text between the end of a turn and the next. */
  readonly separator: string;
  /** Opens the assistant's turn. */
  readonly opening: string | ((thinking: boolean | undefined) => string);
  /** Tokens that `decode` shows although the vocabulary marks them as special. */
  readonly shown: readonly string[];
  /** A whole conversation, system prompt and tools included. */
  whole(messages: readonly ChatMessage[], tools: readonly ToolDefinition[]): readonly Part[];
  /** Messages after an assistant's turn. */
  more(messages: readonly ChatMessage[]): readonly Part[];
  /** @see Renderer.grammar */
  readonly grammar?: Renderer["grammar"];
  /** Text of one completion, without the token that ended it. */
  parse(text: string): ParsedCompletion;
}

/** Special tokens except `shown`: these are not text. */
export function hiddenTokens(tokenizer: TextTokenizer, shown: readonly string[]): Set<number> {
  const hidden = [...tokenizer.controls.byText.values()].filter(
    ({ special, text }) => special && !shown.includes(text),
  );
  return new Set(hidden.map(({ id }) => id));
}

function known(tokenizer: TextTokenizer, tokens: readonly string[]): number[] {
  return tokens.flatMap((token) => tokenizer.controls.byText.get(token)?.id ?? []);
}

/** @throws ModelError when the vocabulary lacks the token that ends a turn. */
export function createTurnRenderer(tokenizer: TextTokenizer, format: TurnFormat): Renderer {
  const end = tokenizer.special(format.end);
  const stopIds = [end, ...known(tokenizer, format.otherStops)];
  const ends = new Set([end, ...known(tokenizer, format.endsToo)]);
  const hidden = hiddenTokens(tokenizer, format.shown);
  const visible = (tokens: Int32Array): string =>
    tokenizer.decode(tokens.filter((id) => id !== end && !hidden.has(id)));
  const opening = (thinking: boolean | undefined): Part =>
    markup(typeof format.opening === "string" ? format.opening : format.opening(thinking));

  return createRenderer(tokenizer, {
    family: format.family,
    stop: { tokenIds: stopIds, strings: [] },
    ...defined({ grammar: format.grammar }),
    choosesThinking: typeof format.opening === "function",
    *render(messages, { tools = [], contextLength, thinking }) {
      const parts = [...format.whole(messages, tools), opening(thinking)];
      return { tokens: Int32Array.from(yield* buildTokens(tokenizer, parts, { contextLength })) };
    },
    *extend(previous, newMessages, { contextLength, thinking }) {
      // A completion cut off by its token limit has not been closed.
      const closed = ends.has(previous.at(-1) ?? -1);
      const parts = [
        markup(`${closed ? "" : format.end}${format.separator}`),
        ...format.more(newMessages),
        opening(thinking),
      ];
      const added = yield* buildTokens(tokenizer, parts, {
        contextLength: roomAfter(previous, contextLength),
      });
      return { tokens: joinTokens(previous, added) };
    },
    parse: (tokens) => format.parse(visible(tokens)),
    decode: visible,
  });
}
