/**
 * Token truth for prompts that are plain text: a prompt that begins with an earlier prompt and all of
 * its completion keeps their ids, and only what follows is encoded.
 */
import { badRequest } from "../http/api-error.ts";
import type { Renderer } from "../../core/policy.ts";
import { hasPrefix, joinTokens } from "../../util/token-prefix.ts";

interface RawCall {
  readonly traceId: string;
  /** What the client would begin a continuation with; null when the completion ended its text. */
  readonly text: string | null;
  readonly tokens: Int32Array;
}

export interface RawMatch {
  readonly tokens: Int32Array;
  readonly parentId: string | null;
}

/** Undefined where the renderer encodes no plain text. */
export type EncodeText = (text: string) => Int32Array | Promise<Int32Array> | undefined;

async function encoded(renderer: Renderer, encode: EncodeText, text: string): Promise<Int32Array> {
  const tokens = await encode(text);
  if (tokens) return tokens;
  throw badRequest(
    "prompt",
    `prompt must be token ids, because the renderer "${renderer.family}" encodes no plain text.`,
    "unsupported_parameter",
  );
}

/** The raw calls of one session. */
export class RawPrompts {
  readonly #calls: RawCall[] = [];

  /** The call with the most tokens that these begin with. */
  parentOf(tokens: Int32Array): string | null {
    let best: RawCall | undefined;
    for (const call of this.#calls) {
      if (call.tokens.length < (best?.tokens.length ?? 0)) continue;
      if (tokens.length > call.tokens.length && hasPrefix(tokens, call.tokens)) best = call;
    }
    return best?.traceId ?? null;
  }

  /** @throws ApiError 400 when there is no way to encode text. */
  async render(
    prompt: string | readonly number[],
    renderer: Renderer,
    encode: EncodeText,
  ): Promise<RawMatch> {
    if (typeof prompt !== "string") {
      const tokens = Int32Array.from(prompt);
      return { tokens, parentId: this.parentOf(tokens) };
    }
    let best: RawCall | undefined;
    for (const call of this.#calls) {
      if (call.text === null || call.text.length < (best?.text?.length ?? 0)) continue;
      if (prompt.length > call.text.length && prompt.startsWith(call.text)) best = call;
    }
    if (!best) return { tokens: await encoded(renderer, encode, prompt), parentId: null };
    const added = await encoded(renderer, encode, prompt.slice(best.text?.length));
    return { tokens: joinTokens(best.tokens, added), parentId: best.traceId };
  }

  /** `answer` is everything that was sampled. */
  add(
    traceId: string,
    prompt: string | readonly number[],
    tokens: Int32Array,
    response: Int32Array,
    renderer: Renderer,
  ): void {
    // A stop token in the middle of a text would say something that the client did not.
    const ended = renderer.stop.tokenIds.includes(response.at(-1) ?? -1);
    const text = ended || typeof prompt !== "string" ? null : prompt + renderer.decode(response);
    this.#calls.push({ traceId, text, tokens });
  }
}
