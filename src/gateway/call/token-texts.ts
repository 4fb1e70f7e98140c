/** What single tokens of a completion say: their texts and bytes, and how many are of reasoning. */
import type { Renderer } from "../../core/policy.ts";
import type { Completion, TokenText } from "./call-request.ts";
import { TextReader } from "../../util/text-reader.ts";

type Decoder = Pick<Renderer, "decode">;

/** Tokens that make `text` together, and may split a character between them: the bytes of each, joined, are its. */
function splitBytes(singles: readonly string[], text: string): readonly TokenText[] {
  const bytes = Buffer.from(text);
  // After the first token that has any, each U+FFFD is one byte that continues a character.
  const sizes = singles.map((single) => Buffer.byteLength(single.replaceAll("\uFFFD", "?")));
  const first = Math.max(
    0,
    sizes.findIndex((size) => size > 0),
  );
  const others = sizes.slice(first + 1).reduce((sum, size) => sum + size, 0);
  sizes[first] = Math.max(0, bytes.length - others);
  let start = 0;
  return singles.map((single, i) => {
    const end = i === singles.length - 1 ? bytes.length : start + sizes[i]!;
    const own = [...bytes.subarray(start, end)];
    start = end;
    return { text: singles.length === 1 ? text : single, bytes: own, topLogprobs: [] };
  });
}

function decodeEach(tokens: Int32Array, renderer: Decoder): readonly TokenText[] {
  const reader = new TextReader((ids) => renderer.decode(ids));
  let length = 0;
  const found: TokenText[] = [];
  const close = (end: number, text: string): void => {
    const open = Array.from(tokens.subarray(found.length, end), (id) =>
      renderer.decode(Int32Array.of(id)),
    );
    found.push(...splitBytes(open, text));
  };
  for (let i = 0; i < tokens.length; i++) {
    const text = reader.push(tokens.subarray(i, i + 1));
    length += text.length;
    if (text !== "") close(i + 1, text);
  }
  if (found.length === tokens.length) return found;
  // Half a character at the end, or tokens without a text.
  close(tokens.length, renderer.decode(tokens).slice(length));
  return found;
}

/** One for each log-probability of `completion`: as the server wrote it, or as the renderer reads it. */
export function tokenTextsOf(completion: Completion, renderer: Decoder): readonly TokenText[] {
  const { tokens, logprobs, tokenTexts } = completion;
  if (tokenTexts) return tokenTexts.slice(0, logprobs.length);
  return decodeEach(tokens.subarray(0, logprobs.length), renderer);
}

/** Of the tokens, those up to the end of the reasoning. Decodes each of them twice at most. */
export function countReasoning(
  tokens: Int32Array,
  reasoning: string | undefined,
  renderer: Decoder,
): number {
  if (reasoning === undefined || reasoning === "") return 0;
  const start = renderer.decode(tokens).indexOf(reasoning);
  const target = Math.max(0, start) + reasoning.length;
  let [low, high, known] = [0, tokens.length, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const { length } = renderer.decode(tokens.subarray(low, middle));
    if (known + length >= target) high = middle;
    else [low, known] = [middle, known + length];
  }
  return high;
}
