/**
 * What becomes of each field of a request, by protocol. What changes the meaning of a request is supported
 * or refused; what has no effect here is reported once, so that it is not taken to have one.
 */
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import { is, isEmpty, never, type NeutralValues } from "./refusals.ts";
import { logitFieldNames } from "./logit-fields.ts";
import { samplingFieldNames } from "./request-fields.ts";

export interface FieldTable {
  /** Read by the protocol's parser. */
  readonly supported: readonly string[];
  /** Refused unless the value has no effect anyway. */
  readonly refused: NeutralValues;
  /** Has no effect: reported once, unless the value has none by definition. `a.b` is `b` in a supported `a`. */
  readonly ignored: NeutralValues;
  /** For the provider's records: no effect on the response is expected. */
  readonly silent: readonly string[];
}

/** Names that `readSampling` and its neighbours read in every protocol. */
export const sharedFields: readonly string[] = [
  ...samplingFieldNames,
  ...logitFieldNames,
  "model",
  "parallel_tool_calls",
  "reasoning_effort",
  "stream",
  "seed",
];

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

/** Fields that were sent and have no effect, by name. */
export function ignoredFields(body: JsonFields, table: FieldTable): readonly string[] {
  const { supported, refused, ignored, silent } = table;
  const outer = Object.keys(body).filter((name) => {
    if (!isSent(body[name]) || supported.includes(name) || silent.includes(name)) return false;
    if (Object.hasOwn(refused, name)) return false;
    return !Object.hasOwn(ignored, name) || ignored[name]?.(body[name]) !== true;
  });
  const inner = Object.keys(ignored).filter((path) => {
    const [name = "", field] = path.split(".");
    const holder = body[name];
    if (field === undefined || !isJsonObject(holder) || !isSent(holder[field])) return false;
    return ignored[path]?.(holder[field]) !== true;
  });
  return [...outer, ...inner];
}
