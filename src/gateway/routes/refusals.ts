/**
 * Fields of a request that would change what is sampled and are not honoured. Dropping one silently
 * would train on something else than what the agent asked for.
 */
import { badRequest } from "../api-error.ts";
import { isJsonObject, show, type JsonFields } from "../json-fields.ts";

/** Whether a value asks for nothing. */
export type IsNeutral = (value: unknown) => boolean;

/** Field to whether a value of it asks for nothing. Null always does. */
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

/** Sampling that no protocol here can ask for. */
export const neutralSampling: NeutralValues = {
  frequency_penalty: is(0),
  presence_penalty: is(0),
  repetition_penalty: is(1),
  length_penalty: is(1),
  logit_bias: isEmpty,
  bad_words: isEmpty,
  stop_token_ids: isEmpty,
  min_tokens: is(0),
  typical_p: is(1),
  best_of: is(1),
  use_beam_search: is(false),
  ignore_eos: is(false),
  prompt_logprobs: is(false),
  structured_outputs: never,
  guided_json: never,
  guided_regex: never,
  guided_choice: never,
  guided_grammar: never,
};

export function unsupported(at: string, value: unknown, remedy = `Leave ${at} out.`): Error {
  return badRequest(
    at,
    `${at}=${show(value)} is not supported by this gateway. ${remedy}`,
    "unsupported_parameter",
  );
}

/** @throws ApiError 400 naming the field, below `at` where one is given. */
export function refuseUnsupported(fields: JsonFields, neutral: NeutralValues, at = ""): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === null || value === undefined) continue;
    if (!Object.hasOwn(neutral, name) || neutral[name]?.(value)) continue;
    throw unsupported(at + name, value);
  }
}
