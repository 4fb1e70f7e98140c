/** What becomes of the fields of a chat request. */
import {
  captureFields,
  messageFields,
  messageInner,
  sharedFields,
  sharedIgnored,
  sharedSilent,
  streamOptions,
  toolInner,
  type FieldTable,
} from "../fields/field-table.ts";
import { is, isEmpty, never, neutralSampling } from "../fields/refusals.ts";

const isTextOnly = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => item === "text");

export const chatFields: FieldTable = {
  supported: [
    ...sharedFields,
    ...messageFields,
    "logprobs",
    "messages",
    "n",
    "response_format",
    "stop",
    "stream_options",
    "top_logprobs",
  ],
  refused: {
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
    echo: is(false),
    documents: isEmpty,
  },
  ignored: { ...sharedIgnored, ...captureFields },
  inner: {
    ...messageInner,
    messages: [
      "annotations",
      "cache_control",
      "content",
      "function_call",
      "name",
      "reasoning",
      "reasoning_content",
      "refusal",
      "role",
      "tool_call_id",
      "tool_calls",
    ],
    stream_options: streamOptions,
    tools: ["cache_control", "function", "type"],
    "tools.function": [...toolInner, "parameters"],
  },
  silent: [...sharedSilent, "store"],
};
