/** Sampling fields as JSON names them, for requests and for sessions. */
import type { SamplingChoice } from "../../call/call-request.ts";
import { readNumber, type JsonFields } from "../../http/json-fields.ts";
import { defined } from "../../../util/defined.ts";

const count = { min: 1, max: Number.MAX_SAFE_INTEGER, integer: true };

/** Names that `readSampling` knows. */
export const samplingFieldNames = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "max_tokens",
  "max_completion_tokens",
] as const;

/** Absent fields stay absent. @throws ApiError 400 naming the field. */
export function readSampling(fields: JsonFields): SamplingChoice {
  const temperature = readNumber(fields, "temperature", { min: 0, max: 2 });
  const topP = readNumber(fields, "top_p", { min: 0, max: 1, aboveMin: true });
  // vLLM's -1 and 0 both mean off.
  const topK = readNumber(fields, "top_k", {
    min: -1,
    max: Number.MAX_SAFE_INTEGER,
    integer: true,
  });
  const minP = readNumber(fields, "min_p", { min: 0, max: 1 });
  const maxTokens =
    readNumber(fields, "max_completion_tokens", count) ?? readNumber(fields, "max_tokens", count);
  return {
    ...defined({ temperature, topP }),
    ...(topK === undefined ? {} : { topK: Math.max(0, topK) }),
    ...defined({ minP, maxTokens }),
  };
}
