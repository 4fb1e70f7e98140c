/** Tokens of a trace. */
import { joinTokens } from "../../util/token-prefix.ts";
import type { Trace } from "../../core/trace.ts";

/** Prompt and response; without a copy where they are adjacent in memory. */
export function joinedTokens({ promptIds, responseIds }: Trace): Int32Array {
  const length = promptIds.length + responseIds.length;
  const adjacent =
    promptIds.buffer === responseIds.buffer &&
    promptIds.byteOffset + promptIds.byteLength === responseIds.byteOffset;
  if (adjacent) return new Int32Array(promptIds.buffer, promptIds.byteOffset, length);
  return joinTokens(promptIds, responseIds);
}
