/** The body of a (text) completion request to a call, and to how its response is to be written. */
import { badRequest } from "../../http/api-error.ts";
import type { CallRequest } from "../../call/call-request.ts";
import { readString, show } from "../../http/json-fields.ts";
import type { JsonFields } from "../../../util/json-object.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import {
  captureFields,
  sharedFields,
  sharedSilent,
  streamOptions,
  type FieldTable,
} from "../fields/field-table.ts";
import { is, isEmpty, neutralSampling, refuseUnsupported } from "../fields/refusals.ts";
import {
  readChoiceCount,
  readSeed,
  readStops,
  readStreamFields,
  type StreamFields,
  readSampling,
} from "../fields/request-fields.ts";
import { readFormat } from "../fields/output-format.ts";
import { readLogits } from "../fields/logit-fields.ts";
import { readTopLogprobs, serverFieldsOf } from "../fields/server-fields.ts";
import { defined } from "../../../util/defined.ts";

export interface CompletionsRequest extends StreamFields {
  readonly call: CallRequest;
  readonly logprobs: boolean;
}

/** OpenAI's own default of this protocol. */
const defaultMaxTokens = 16;

export const completionsFields: FieldTable = {
  supported: [
    ...sharedFields,
    "logprobs",
    "n",
    "prompt",
    "response_format",
    "stop",
    "stream_options",
  ],
  refused: { ...neutralSampling, echo: is(false), suffix: isEmpty },
  ignored: captureFields,
  inner: { stream_options: streamOptions },
  silent: sharedSilent,
};

function isIds(value: unknown): value is readonly number[] {
  const isId = (item: unknown): boolean =>
    Number.isInteger(item) && (item as number) >= 0 && (item as number) < 2 ** 31;
  return Array.isArray(value) && value.length > 0 && value.every(isId);
}

function parsePrompt(body: JsonFields): string | readonly number[] {
  const given = body.prompt;
  const single = Array.isArray(given) && given.length === 1 && !isIds(given);
  const prompt: unknown = single ? given[0] : given;
  if ((typeof prompt === "string" && prompt !== "") || isIds(prompt)) return prompt;
  const many = Array.isArray(given) && given.length > 1;
  throw badRequest(
    "prompt",
    many
      ? "prompt holds several prompts, but this gateway takes one at a time. Send them one by one."
      : `prompt must be a non-empty string or a list of token ids, but it is ${show(given)}.`,
  );
}

/** Alternatives to each token; undefined when not even the sampled ones are requested. */
function readLogprobs(body: JsonFields, abilities: TargetAbilities): number | undefined {
  if (typeof body.logprobs === "boolean") return body.logprobs ? 0 : undefined;
  // The sampled token counts as one of the alternatives, and it is always known.
  return readTopLogprobs(body, "logprobs", abilities, 1);
}

/** @throws ApiError 400 naming the field. */
export function parseCompletionsRequest(
  body: JsonFields,
  defaultModel: string,
  abilities: TargetAbilities,
  decode: (tokens: Int32Array) => string,
): CompletionsRequest {
  refuseUnsupported(body, completionsFields.refused);
  const format = readFormat(body.response_format, "response_format");
  const rawPrompt = parsePrompt(body);
  const text = typeof rawPrompt === "string" ? rawPrompt : decode(Int32Array.from(rawPrompt));
  const top = readLogprobs(body, abilities);
  return {
    call: {
      protocol: "openai-completions",
      model: readString(body, "model") ?? defaultModel,
      messages: [{ role: "user", content: text }],
      tools: [],
      n: readChoiceCount(body),
      sampling: { maxTokens: defaultMaxTokens, ...readSampling(body) },
      ...readSeed(body),
      stops: readStops(body, "stop"),
      rawPrompt,
      ...defined({ topLogprobs: top }),
      ...serverFieldsOf(body, { response_format: format }),
      ...readLogits(body, abilities),
    },
    ...readStreamFields(body),
    logprobs: top !== undefined,
  };
}
