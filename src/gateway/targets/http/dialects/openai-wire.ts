/** Parts of OpenAI's wire format that chat and text completions share, with vLLM's and SGLang's extras. */
import type { JsonFields } from "../../../json-fields.ts";
import type { CallUsage } from "../../../call-request.ts";
import type { AnswerPart } from "../answer-part.ts";
import { defined, idsIn, listIn, logprobIn, numberIn, objectIn, textIn } from "../wire-values.ts";

export function readUsage(value: unknown): CallUsage | undefined {
  const usage = objectIn(value);
  const promptTokens = numberIn(usage.prompt_tokens);
  const completionTokens = numberIn(usage.completion_tokens);
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const cachedTokens = numberIn(objectIn(usage.prompt_tokens_details).cached_tokens);
  return defined<CallUsage>({ promptTokens, completionTokens, cachedTokens });
}

/** `token_id:17`, as servers write tokens when they are asked to. */
function idOf(text: unknown): number | null {
  const id = /^token_id:(\d+)$/.exec(typeof text === "string" ? text : "")?.[1];
  return id === undefined ? null : Number(id);
}

interface Drawn {
  readonly tokens?: readonly number[];
  readonly logprobs?: readonly (number | null)[];
  readonly texts?: AnswerPart["texts"];
}

function chatLogprobs(content: readonly unknown[]): Drawn {
  const items = content.map(objectIn);
  return {
    tokens: items.flatMap(({ id, token }) => numberIn(id) ?? idOf(token) ?? []),
    logprobs: items.map(({ logprob }) => logprobIn(logprob)),
    texts: items.map(({ token, top_logprobs }) => ({
      text: textIn(token) ?? "",
      topLogprobs: listIn(top_logprobs).map((top) => {
        const { token: text, logprob } = objectIn(top);
        return { text: textIn(text) ?? "", logprob: numberIn(logprob) ?? -Infinity };
      }),
    })),
  };
}

function textLogprobs(logprobs: JsonFields): Drawn {
  const texts = listIn(logprobs.tokens);
  const tops = listIn(logprobs.top_logprobs);
  return {
    tokens: texts.flatMap((token) => idOf(token) ?? []),
    logprobs: listIn(logprobs.token_logprobs).map(logprobIn),
    texts: texts.map((token, i) => ({
      text: textIn(token) ?? "",
      topLogprobs: Object.entries(objectIn(tops[i])).map(([text, logprob]) => ({
        text,
        logprob: numberIn(logprob) ?? -Infinity,
      })),
    })),
  };
}

/** `[logprob, id, text]` each, as SGLang writes them. */
function tripleLogprobs(triples: readonly unknown[]): Drawn {
  const items = triples.map(listIn);
  return {
    tokens: items.flatMap(([, id]) => numberIn(id) ?? []),
    logprobs: items.map(([logprob]) => logprobIn(logprob)),
  };
}

/** Ids and log-probabilities of a choice, wherever a server puts them. */
export function readDrawn(choice: JsonFields): Drawn {
  const logprobs = objectIn(choice.logprobs);
  const told = Array.isArray(logprobs.content)
    ? chatLogprobs(logprobs.content)
    : Array.isArray(logprobs.tokens)
      ? textLogprobs(logprobs)
      : {};
  const { output_token_logprobs: triples } = objectIn(choice.meta_info);
  const meta = Array.isArray(triples) ? tripleLogprobs(triples) : {};
  const fallback = told.tokens?.length === told.logprobs?.length ? told.tokens : undefined;
  return defined<Drawn>({
    tokens: idsIn(choice.token_ids) ?? meta.tokens ?? fallback,
    logprobs: told.logprobs ?? meta.logprobs,
    texts: told.texts,
  });
}

/** What ended a choice, and the string that did. */
export function readFinish(choice: JsonFields): Pick<AnswerPart, "finish" | "stopString"> {
  return defined<Pick<AnswerPart, "finish" | "stopString">>({
    finish: textIn(choice.finish_reason),
    stopString: textIn(choice.stop_reason) ?? textIn(choice.matched_stop),
  });
}
