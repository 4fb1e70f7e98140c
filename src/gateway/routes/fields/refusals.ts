/**
 * Fields of a request that would change what is sampled and are not supported. Dropping one silently
 * would train on something else than what the agent requested.
 */
import { badRequest } from "../../http/api-error.ts";
import { show } from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";

/** Whether a value has no effect. */
export type IsNeutral = (value: unknown) => boolean;

/** Field to whether a value of it has no effect. Null never has one. */
export type NeutralValues = Readonly<Record<string, IsNeutral>>;

export const isEmpty: IsNeutral = (value) =>
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isJsonObject(value) && Object.keys(value).length === 0);
export const is =
  (...neutral: readonly unknown[]): IsNeutral =>
  (value) =>
    neutral.includes(value);
export const never: IsNeutral = () => false;
export const isText: IsNeutral = (value) => isJsonObject(value) && value.type === "text";

/** Sampling that no protocol here supports. */
export const neutralSampling: NeutralValues = {
  repetition_penalty: is(1),
  repeat_penalty: is(1),
  length_penalty: is(1),
  no_repeat_ngram_size: is(0),
  logits_processors: isEmpty,
  allowed_token_ids: isEmpty,
  bad_words: isEmpty,
  stop_token_ids: isEmpty,
  include_stop_str_in_output: is(false),
  min_tokens: is(0),
  max_new_tokens: never,
  truncate_prompt_tokens: is(-1),
  typical_p: is(1),
  mirostat: is(0),
  dry_multiplier: is(0),
  xtc_probability: is(0),
  dynatemp_range: is(0),
  best_of: is(1),
  use_beam_search: is(false),
  ignore_eos: is(false),
  prompt_logprobs: is(false),
  structured_outputs: never,
  guided_json: never,
  guided_regex: never,
  guided_choice: never,
  guided_grammar: never,
  grammar: isEmpty,
  json_schema: isEmpty,
};

/** What to send instead of the fields of other servers. */
const formatRemedy =
  "Send the format as response_format (text.format, output_config.format), as OpenAI and Anthropic have it.";

const formatFields: ReadonlySet<string> = new Set([
  "structured_outputs",
  "guided_json",
  "guided_regex",
  "guided_choice",
  "guided_grammar",
  "grammar",
  "json_schema",
]);

export function unsupported(at: string, value: unknown, remedy = `Leave ${at} out.`): Error {
  return badRequest(
    at,
    `${at}=${show(value)} is not supported by this gateway. ${remedy}`,
    "unsupported_parameter",
  );
}

const remedies: Readonly<Record<string, string>> = {
  context_management: "Shorten the conversation in the agent, which then sends what is left of it.",
  compaction: "Shorten the conversation in the agent, which then sends what is left of it.",
  truncation:
    'Use "disabled": a prompt that is too long is a 400, context_length_exceeded, and the agent decides what to drop.',
  truncate_prompt_tokens: "Shorten the prompt in the agent.",
  max_new_tokens: "Use max_tokens.",
  echo: "Join the prompt and the response in the agent.",
  suffix: "Write the model's own tokens for filling in between into the prompt.",
};

/** @throws ApiError 400 naming the field, below `at` where one is given. */
export function refuseUnsupported(fields: JsonFields, neutral: NeutralValues, at = ""): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === null || value === undefined) continue;
    if (!Object.hasOwn(neutral, name) || neutral[name]?.(value)) continue;
    throw unsupported(at + name, value, formatFields.has(name) ? formatRemedy : remedies[name]);
  }
}
