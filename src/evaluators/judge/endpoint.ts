/** One chat completion of an OpenAI-compatible server. */
import { ConfigError } from "../../core/errors.ts";
import {
  chatCompletion,
  type ChatEndpoint,
  isHttpUrl,
  NoCompletion,
} from "../../http/chat-completion.ts";
import { HttpFault, mayPass } from "../../http/http-fault.ts";
import { backOffMs, retry } from "../../util/retry.ts";
import { evaluatorError, note } from "../scorer.ts";

/**
 * The model that scores, behind any OpenAI-compatible endpoint.
 *
 * @example
 * const judge: JudgeEndpoint = {
 *   baseUrl: "https://api.openai.com/v1",
 *   model: "gpt-5-mini",
 *   apiKey: process.env.OPENAI_API_KEY,
 * };
 */
export interface JudgeEndpoint extends ChatEndpoint {
  /** Further tries after a failed call or a response that is not a score. @default 2 */
  readonly retries?: number;
  /** Time per call in milliseconds. @default 60000 */
  readonly timeoutMs?: number;
}

const firstWaitMs = 500;
const maxWaitMs = 30_000;

/** A response that is no score; the next one may be. */
class NoScore extends Error {}

/** @throws ConfigError for an endpoint that cannot be called. */
export function checkEndpoint({ baseUrl, retries = 2, timeoutMs = 60_000 }: JudgeEndpoint): void {
  if (!isHttpUrl(baseUrl)) {
    throw new ConfigError({
      message: `The judge's baseUrl is ${JSON.stringify(baseUrl)}, which is not an HTTP URL.`,
      hint: "Give the URL up to and including /v1.",
      fields: { baseUrl },
    });
  }
  if (Number.isInteger(retries) && retries >= 0 && timeoutMs > 0) return;
  throw new ConfigError({
    message: `The judge has retries=${retries} and timeoutMs=${timeoutMs}.`,
    hint: "Give a whole number of retries from 0 on and a time above 0.",
    fields: { retries, timeoutMs },
  });
}

/**
 * Calls the model until `read` accepts its text. `read` returns null for a text that is not a score.
 * @throws AgentTrainerError (`EVALUATOR_FAILED`) after the last try
 */
export async function askJudge<T>(
  endpoint: JudgeEndpoint,
  system: string,
  user: string,
  read: (text: string) => T | null,
  signal?: AbortSignal,
): Promise<T> {
  const { model, retries = 2, timeoutMs = 60_000 } = endpoint;
  const messages = [
    { role: "system", content: system },
    { role: "user", content: user },
  ];
  const attempt = async (): Promise<T> => {
    const text = await complete(endpoint, messages, { timeoutMs, signal });
    const value = read(text);
    if (value !== null) return value;
    throw new NoScore(`the response is not a score: ${JSON.stringify(note(text))}`);
  };
  return await retry(attempt, {
    signal,
    waitMs(error, failures) {
      if (!(error instanceof NoScore || error instanceof HttpFault)) return null;
      const isLong = error instanceof HttpFault && error.kind === "too-large";
      if (error instanceof HttpFault && !isLong && !mayPass(error)) {
        throw evaluatorError(
          `The judge's endpoint ${sayOf(error)}`,
          "Check baseUrl, model and apiKey.",
          { status: error.status, model },
        );
      }
      if (failures > retries) {
        throw evaluatorError(
          `The judge "${model}" gave no score in ${failures} tries; last: ${sayOf(error)}.`,
          "Check the endpoint and the model, use a stronger one, or raise `retries`.",
          { model, tries: failures },
          error.cause,
        );
      }
      if (isLong || error instanceof NoScore) return 0;
      const wait = error.retryAfterMs ?? backOffMs(failures, { firstMs: firstWaitMs, jitter: 0.5 });
      return Math.min(wait, maxWaitMs);
    },
  });
}

/** What went wrong, in few words. */
function sayOf(error: NoScore | HttpFault): string {
  if (error instanceof NoScore) return error.message;
  const { kind, status, message, text } = error;
  if (kind === "status") return `responded with status ${status}: ${note(text)}`;
  if (kind === "redirect") return message;
  return kind === "too-large"
    ? "the response is longer than 1 MB"
    : `the call failed: the endpoint ${message}`;
}

async function complete(...call: Parameters<typeof chatCompletion>): Promise<string> {
  try {
    return (await chatCompletion(...call)).content;
  } catch (error) {
    if (!(error instanceof NoCompletion)) throw error;
    throw new NoScore(`${error.message}: ${note(error.body)}`);
  }
}
