/**
 * A renderer from generators that yield the texts to encode: synchronously, or with long texts in another
 * thread.
 */
import type { ChatMessage } from "../../core/message.ts";
import type { Renderer, RenderedPrompt, RenderOptions } from "../../core/policy.ts";
import { buildTokens, encodeLater, encodeNow, plain, type Encoding } from "./token-builder.ts";
import { defined } from "../../util/defined.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";

/** `Renderer`, with encoding steps in place of their results. */
export interface RendererSteps extends Pick<
  Renderer,
  "family" | "stop" | "parse" | "decode" | "grammar" | "choosesThinking"
> {
  render(messages: readonly ChatMessage[], options: RenderOptions): Encoding<RenderedPrompt>;
  extend(
    previous: Int32Array,
    newMessages: readonly ChatMessage[],
    options: RenderOptions,
  ): Encoding<RenderedPrompt | null>;
}

/** Tokens left in the context window for new ones. */
export function roomAfter(
  previous: Int32Array,
  contextLength: number | undefined,
): number | undefined {
  return contextLength === undefined ? undefined : Math.max(0, contextLength - previous.length);
}

export function createRenderer(tokenizer: TextTokenizer, steps: RendererSteps): Renderer {
  const { family, stop, parse, decode, grammar, choosesThinking } = steps;
  const now = <T>(encoding: Encoding<T>): T => encodeNow(tokenizer, encoding);
  return {
    family,
    stop,
    ...defined({ grammar, choosesThinking }),
    parse: (tokens) => parse(tokens),
    decode: (tokens) => decode(tokens),
    inspect: (tokens) => tokenizer.decode(tokens),
    render: (messages, options = {}) => now(steps.render(messages, options)),
    extend: (previous, messages, options = {}) => now(steps.extend(previous, messages, options)),
    get longestToken() {
      const { longestToken } = tokenizer;
      return Number.isFinite(longestToken) ? longestToken : undefined;
    },
    encode: (text) => Int32Array.from(tokenizer.encode(tokenizer.atStart(text))),
    long: {
      render: (messages, options, signal) =>
        encodeLater(tokenizer, steps.render(messages, options), signal),
      extend: (previous, messages, options, signal) =>
        encodeLater(tokenizer, steps.extend(previous, messages, options), signal),
      async encode(text, { contextLength }, signal) {
        const encoding = buildTokens(tokenizer, [plain(tokenizer.atStart(text))], {
          contextLength,
        });
        return Int32Array.from(await encodeLater(tokenizer, encoding, signal));
      },
    },
  };
}
