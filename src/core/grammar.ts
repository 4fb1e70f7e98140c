/**
 * What a completion must look like, as data: it travels to the thread that samples, into traces, and to
 * training, which computes the same token masks from it. `src/grammar/` compiles it.
 */
import type { JsonValue } from "./message.ts";

/** A language of texts. */
export type Grammar =
  /** Exactly this text. */
  | { readonly type: "literal"; readonly text: string }
  /** This text, as the one added token of that text where the vocabulary has it. */
  | { readonly type: "tag"; readonly text: string }
  /** A JSON text that is valid under a JSON Schema. */
  | { readonly type: "json"; readonly schema: JsonValue }
  /** Any text in which none of these occurs. */
  | { readonly type: "text"; readonly without: readonly string[] }
  /** All parts, in order. */
  | { readonly type: "sequence"; readonly parts: readonly Grammar[] }
  /** One of these. */
  | { readonly type: "choice"; readonly options: readonly Grammar[] }
  /** `part`, at least `min` times, with `separator` in between. */
  | {
      readonly type: "repeat";
      readonly part: Grammar;
      readonly min: number;
      /** null: any number. */
      readonly max: number | null;
      readonly separator: string;
    };

/**
 * What changes the distribution that tokens are sampled from, apart from temperature and truncation: logits
 * get the bias, minus the penalties, and those that the grammar does not allow are removed. All of it comes
 * before the temperature, as in OpenAI's API and vLLM.
 */
export interface LogitRules {
  /** The completion is a text of it, unless a length limit is below its shortest text. @default any */
  readonly grammar?: Grammar;
  /** Added to the logits of these tokens. @default none */
  readonly bias?: readonly (readonly [token: number, bias: number])[];
  /** Subtracted from the logits of tokens that the completion has. @default 0 */
  readonly presencePenalty?: number;
  /** The same, times their number in the completion. @default 0 */
  readonly frequencyPenalty?: number;
}
