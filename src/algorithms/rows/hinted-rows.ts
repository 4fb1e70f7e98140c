/**
 * Rows as their teacher reads them: the same tokens after a first prompt with a hint in it. On-policy
 * self-distillation scores what the policy sampled without the hint by what it would have sampled with it. Pure.
 */
import { joinTokens } from "../../util/token-prefix.ts";
import { messageText } from "../../core/message-text.ts";
import type { ChatMessage } from "../../core/message.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Renderer } from "../../core/policy.ts";
import type { Trace } from "../../core/trace.ts";

/** A row with another first prompt. */
export interface HintedRow {
  readonly row: TrainingRow;
  /** How many tokens later everything after the first prompt is. */
  readonly shift: number;
}

/** The messages, with `text` at the end of the last one of the user; null where there is none. */
function withHint(messages: readonly ChatMessage[], text: string): readonly ChatMessage[] | null {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const message = messages[at];
  if (message === undefined) return null;
  const content = messageText(message.content, { image: "refuse" }) + text;
  return messages.with(at, { ...message, content });
}

const startsWith = (tokens: Int32Array, prefix: Int32Array): boolean =>
  prefix.every((id, i) => tokens[i] === id);

/**
 * @param trace the call whose prompt the row begins with.
 * @returns null where the renderer does not write that prompt as it was sent, so that what it writes with the hint
 * would differ in more than the hint.
 */
export function hintedRow(
  row: TrainingRow,
  trace: Trace,
  renderer: Renderer,
  text: string,
): HintedRow | null {
  const { tools, messages, promptIds } = trace;
  const hinted = withHint(messages, text);
  if (hinted === null) return null;
  const plain = renderer.render(messages, { tools }).tokens;
  if (plain.length !== promptIds.length || !startsWith(row.tokens, plain)) return null;
  const prompt = renderer.render(hinted, { tools }).tokens;
  const shift = prompt.length - plain.length;
  const tokens = joinTokens(prompt, row.tokens.subarray(plain.length));
  const { length } = tokens;
  const moved = <T extends Uint8Array | Float32Array>(from: T, to: T): T => {
    to.set(from.subarray(plain.length), prompt.length);
    return to;
  };
  const rules = row.rules?.map((one) => ({
    ...one,
    start: one.start + shift,
    end: one.end + shift,
  }));
  return {
    shift,
    row: {
      ...{ tokens, segments: [], provenance: row.provenance },
      ...(row.adapter === undefined ? {} : { adapter: row.adapter }),
      ...(row.temperature === undefined ? {} : { temperature: row.temperature }),
      ...(rules === undefined ? {} : { rules }),
      targetMask: moved(row.targetMask, new Uint8Array(length)),
      samplingLogprobs: moved(row.samplingLogprobs, new Float32Array(length)),
      advantages: new Float32Array(length),
    },
  };
}
