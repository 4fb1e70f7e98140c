/**
 * Fields of a chat request that would change what is sampled and are not honoured. Dropping one
 * silently would train on something else than what the agent asked for.
 */
import { badRequest } from "../api-error.ts";
import { isJsonObject, show, type JsonFields } from "../json-fields.ts";

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) ||
  (isJsonObject(value) && Object.keys(value).length === 0);
const is =
  (neutral: unknown) =>
  (value: unknown): boolean =>
    value === neutral;
const never = (): boolean => false;
const isText = (value: unknown): boolean => isJsonObject(value) && value.type === "text";
const isTextOnly = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => item === "text");

/** Field to whether a value of it asks for nothing. Null always does. */
const neutralValues: Readonly<Record<string, (value: unknown) => boolean>> = {
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
  top_logprobs: is(0),
  response_format: isText,
  structured_outputs: never,
  guided_json: never,
  guided_regex: never,
  guided_choice: never,
  guided_grammar: never,
  functions: isEmpty,
  function_call: is("none"),
  modalities: isTextOnly,
  audio: never,
  prediction: never,
  web_search_options: never,
  chat_template: never,
  chat_template_kwargs: isEmpty,
  add_generation_prompt: is(true),
  continue_final_message: is(false),
  documents: isEmpty,
};

/** @throws ApiError 400 naming the field. */
export function refuseUnsupported(body: JsonFields): void {
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === null || !Object.hasOwn(neutralValues, name) || neutralValues[name]?.(value)) {
      continue;
    }
    throw badRequest(
      name,
      `${name}=${show(value)} is not supported by this gateway. Leave ${name} out.`,
      "unsupported_parameter",
    );
  }
}
