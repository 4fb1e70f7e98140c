/**
 * What becomes of each field of a request, by protocol. What changes the meaning of a request is supported
 * or refused; what has no effect here is reported once, so that it is not taken to have one.
 */
import { isJsonObject, listOf, type JsonFields } from "../../../util/json-object.ts";
import { is, isEmpty, never, type NeutralValues } from "./refusals.ts";
import { logitFieldNames } from "./logit-fields.ts";
import { samplingFieldNames } from "./request-fields.ts";

export interface FieldTable {
  /** Read by the protocol's parser. */
  readonly supported: readonly string[];
  /** Refused unless the value has no effect anyway. */
  readonly refused: NeutralValues;
  /** Has no effect: reported once, unless the value has none by definition. */
  readonly ignored: NeutralValues;
  /** What is read, or has no effect anyway, in objects (`a.b`) and their lists; all else is reported as `a.b.c`. */
  readonly inner: Readonly<Record<string, readonly string[]>>;
  /** For the provider's records: no effect on the response is expected. */
  readonly silent: readonly string[];
}

/** Names that `readSampling` and its neighbours read in every protocol. */
export const sharedFields: readonly string[] = [
  ...samplingFieldNames,
  ...logitFieldNames,
  "model",
  "stream",
  "seed",
];

/** The same for protocols of messages. */
export const messageFields: readonly string[] = [
  "chat_template_kwargs",
  "parallel_tool_calls",
  "reasoning",
  "reasoning_effort",
  "thinking",
  "tool_choice",
  "tools",
];

export const streamOptions: readonly string[] = ["include_obfuscation", "include_usage"];

export const messageInner: FieldTable["inner"] = {
  reasoning: ["effort", "enabled"],
  thinking: ["type"],
};

/** What no protocol writes in another way. */
export const toolInner: readonly string[] = ["description", "name", "strict", "type"];

/** Wishes about how another model thinks and writes, and about checks of its provider. */
export const sharedIgnored: NeutralValues = {
  moderation: never,
  verbosity: never,
};

export const sharedSilent: readonly string[] = [
  "metadata",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "service_tier",
  "user",
];

/** vLLM's and SGLang's fields that request ids, which the trace has anyway. */
export const captureFields: NeutralValues = {
  return_token_ids: is(false),
  return_tokens_as_token_ids: is(false),
  skip_special_tokens: is(true),
  spaces_between_special_tokens: is(true),
  add_special_tokens: is(true, false),
  extra_body: isEmpty,
};

const isSent = (value: unknown): boolean => value !== null && value !== undefined;

/** The objects at a path, those of lists included. */
function objectsAt(body: JsonFields, path: string): readonly JsonFields[] {
  let found: readonly JsonFields[] = [body];
  for (const name of path.split(".")) {
    found = found.flatMap((each) => {
      const value = each[name];
      return isJsonObject(value) ? [value] : listOf(value);
    });
  }
  return found;
}

/** Fields that were sent and have no effect, by name. */
export function ignoredFields(body: JsonFields, table: FieldTable): readonly string[] {
  const { supported, refused, ignored, inner, silent } = table;
  const outer = Object.keys(body).filter((name) => {
    if (!isSent(body[name]) || supported.includes(name) || silent.includes(name)) return false;
    if (Object.hasOwn(refused, name)) return false;
    return !Object.hasOwn(ignored, name) || ignored[name]?.(body[name]) !== true;
  });
  const within = Object.entries(inner).flatMap(([path, known]) =>
    objectsAt(body, path).flatMap((object) =>
      Object.keys(object)
        .filter((name) => isSent(object[name]) && !known.includes(name))
        .map((name) => `${path}.${name}`),
    ),
  );
  return [...outer, ...new Set(within)];
}
