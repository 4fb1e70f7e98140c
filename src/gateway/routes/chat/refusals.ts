/** Fields of a chat request that are not honoured. */
import { is, isEmpty, isText, never, neutralSampling, type NeutralValues } from "../refusals.ts";

const isTextOnly = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => item === "text");

/** @see NeutralValues */
export const neutralChat: NeutralValues = {
  ...neutralSampling,
  top_logprobs: is(0),
  response_format: isText,
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
