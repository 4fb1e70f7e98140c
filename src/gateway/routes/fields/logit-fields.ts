/** Fields that change logits, or how tools are called, in every protocol. */
import type { CallRequest } from "../../call/call-request.ts";
import { badRequest } from "../../http/api-error.ts";
import { readBoolean, readNumber, readObject, show } from "../../http/json-fields.ts";
import { isJsonObject, listOf, type JsonFields } from "../../../util/json-object.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import { defined } from "../../../util/defined.ts";
import { unsupported } from "./refusals.ts";

/** Names that `readLogits` knows. */
export const logitFieldNames = ["frequency_penalty", "presence_penalty", "logit_bias"] as const;

const bounds = { min: -2, max: 2 };
const maxBias = 100;
const remedy =
  "Leave it out: only the embedded engine (backend local) applies it with the log-probabilities that training needs.";

function readBias(body: JsonFields): readonly (readonly [number, number])[] {
  return Object.entries(readObject(body, "logit_bias") ?? {}).map(([key, bias]) => {
    const token = Number(key);
    const isToken = Number.isInteger(token) && token >= 0;
    if (isToken && typeof bias === "number" && Math.abs(bias) <= maxBias)
      return [token, bias] as const;
    throw badRequest(
      "logit_bias",
      `logit_bias has ${show(bias)} for ${show(key)}, but it must map token ids to numbers from -${maxBias} to ${maxBias}.`,
    );
  });
}

/** @throws ApiError 400 naming the field. */
export function readLogits(
  body: JsonFields,
  { rules }: TargetAbilities,
): Pick<CallRequest, "logits"> {
  const frequencyPenalty = readNumber(body, "frequency_penalty", bounds) ?? 0;
  const presencePenalty = readNumber(body, "presence_penalty", bounds) ?? 0;
  const bias = readBias(body);
  const sent = { frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty };
  const name =
    Object.entries(sent).find(([, value]) => value !== 0)?.[0] ??
    (bias.length > 0 ? "logit_bias" : undefined);
  if (name === undefined) return {};
  if (!rules) throw unsupported(name, body[name], remedy);
  return {
    logits: {
      ...(bias.length === 0 ? {} : { bias }),
      ...(presencePenalty === 0 ? {} : { presencePenalty }),
      ...(frequencyPenalty === 0 ? {} : { frequencyPenalty }),
    },
  };
}

/** Which tools are strict, and whether several may be called at once. */
export function readCalls(body: JsonFields): Pick<CallRequest, "singleCall" | "strictTools"> {
  const strictTools = listOf(body.tools).flatMap((tool) => {
    const own = isJsonObject(tool.function) ? tool.function : tool;
    return own.strict === true && typeof own.name === "string" ? [own.name] : [];
  });
  const choice = body.tool_choice;
  const isSingle =
    readBoolean(body, "parallel_tool_calls") === false ||
    (isJsonObject(choice) && choice.disable_parallel_tool_use === true);
  return {
    ...(strictTools.length === 0 ? {} : { strictTools }),
    ...defined({ singleCall: isSingle ? true : undefined }),
  };
}
