/** Parts of OpenAI's wire format that chat and text completions share, with vLLM's and SGLang's extras. */
import type { JsonFields } from "../../../../util/json-object.ts";
import type { CallUsage, TokenText } from "../../../call/call-request.ts";
import type { ResponsePart } from "./response-part.ts";
import { defined } from "../../../../util/defined.ts";
import { idsIn, listIn, logprobIn, numberIn, objectIn, textIn } from "./wire-values.ts";

export function readUsage(value: unknown): CallUsage | undefined {
  const usage = objectIn(value);
  const promptTokens = numberIn(usage.prompt_tokens);
  const completionTokens = numberIn(usage.completion_tokens);
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const cachedTokens = numberIn(objectIn(usage.prompt_tokens_details).cached_tokens);
  const { reasoning_tokens: counted } = objectIn(usage.completion_tokens_details);
  const reasoningTokens = numberIn(counted);
  return { promptTokens, completionTokens, ...defined({ cachedTokens, reasoningTokens }) };
}

/** `token_id:17`, as servers write tokens on request. */
function idOf(text: unknown): number | null {
  const id = /^token_id:(\d+)$/.exec(typeof text === "string" ? text : "")?.[1];
  return id === undefined ? null : Number(id);
}

interface Sampled {
  readonly tokens?: ArrayLike<number> | undefined;
  readonly logprobs?: readonly (number | null)[];
  readonly texts?: readonly TokenText[] | undefined;
}

function tokenText({ token, bytes }: JsonFields): Omit<TokenText, "topLogprobs"> {
  const given = idsIn(bytes);
  return {
    text: textIn(token) ?? "",
    ...(given === undefined ? {} : { bytes: Array.from(given) }),
  };
}

function chatText(item: JsonFields): TokenText {
  return {
    ...tokenText(item),
    topLogprobs: listIn(item.top_logprobs)
      .map(objectIn)
      .map((top) => ({ ...tokenText(top), logprob: numberIn(top.logprob) ?? -Infinity })),
  };
}

function chatLogprobs(content: readonly unknown[], hasIds: boolean, wantsTexts: boolean): Sampled {
  const items = content.map(objectIn);
  return {
    tokens: hasIds
      ? undefined
      : items.flatMap(({ id, token }) => numberIn(id) ?? idOf(token) ?? []),
    logprobs: items.map(({ logprob }) => logprobIn(logprob)),
    texts: wantsTexts ? items.map(chatText) : undefined,
  };
}

function textLogprobs(logprobs: JsonFields, hasIds: boolean, wantsTexts: boolean): Sampled {
  const texts = listIn(logprobs.tokens);
  const tops = listIn(logprobs.top_logprobs);
  const textOf = (token: unknown, i: number): TokenText => ({
    text: textIn(token) ?? "",
    topLogprobs: Object.entries(objectIn(tops[i])).map(([text, logprob]) => ({
      text,
      logprob: numberIn(logprob) ?? -Infinity,
    })),
  });
  return {
    tokens: hasIds ? undefined : texts.flatMap((token) => idOf(token) ?? []),
    logprobs: listIn(logprobs.token_logprobs).map(logprobIn),
    texts: wantsTexts ? texts.map(textOf) : undefined,
  };
}

/** `[logprob, id, text]` each, as SGLang writes them. */
function tripleLogprobs(triples: readonly unknown[]): Sampled {
  const items = triples.map(listIn);
  return {
    tokens: items.flatMap(([, id]) => numberIn(id) ?? []),
    logprobs: items.map(([logprob]) => logprobIn(logprob)),
  };
}

/**
 * Ids and log-probabilities of a choice, wherever a server puts them; texts of single tokens where
 * the client `wantsTexts`.
 */
export function readSampled(
  choice: JsonFields,
  wantsTexts: boolean,
): Pick<ResponsePart, "tokens" | "logprobs" | "texts"> {
  const logprobs = objectIn(choice.logprobs);
  const ids = idsIn(choice.token_ids);
  const reported = Array.isArray(logprobs.content)
    ? chatLogprobs(logprobs.content, ids !== undefined, wantsTexts)
    : Array.isArray(logprobs.tokens)
      ? textLogprobs(logprobs, ids !== undefined, wantsTexts)
      : {};
  const { output_token_logprobs: triples } = objectIn(choice.meta_info);
  const meta = Array.isArray(triples) ? tripleLogprobs(triples) : {};
  const fallback =
    reported.tokens?.length === reported.logprobs?.length ? reported.tokens : undefined;
  return defined({
    tokens: ids ?? meta.tokens ?? fallback,
    logprobs: reported.logprobs ?? meta.logprobs,
    texts: reported.texts,
  });
}

/** What ended a choice, and the string that did. */
export function readFinish(choice: JsonFields): Pick<ResponsePart, "finish" | "stopString"> {
  return defined({
    finish: textIn(choice.finish_reason),
    stopString: textIn(choice.stop_reason) ?? textIn(choice.matched_stop),
  });
}
