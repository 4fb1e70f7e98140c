/** Fields of a chat request that are not honoured. */
import { is, isEmpty, never, neutralSampling, type NeutralValues } from "../refusals.ts";

const isTextOnly = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => item === "text");

/** @see NeutralValues */
export const neutralChat: NeutralValues = {
  ...neutralSampling,
  functions: isEmpty,
  function_call: is("none"),
  modalities: isTextOnly,
  audio: never,
  prediction: never,
  web_search_options: never,
  chat_template: never,
  add_generation_prompt: is(true),
  continue_final_message: is(false),
  documents: isEmpty,
};
