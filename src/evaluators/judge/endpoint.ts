/** One chat completion of an OpenAI-compatible server, by plain `fetch`. */
import { backOffMs, readRetryAfterMs } from "../../util/retry.ts";
import { delay } from "../../util/abort.ts";
import { readLimited } from "../../util/read-limited.ts";
import { ConfigError } from "../../core/errors.ts";
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
export interface JudgeEndpoint {
  /** URL to which `/chat/completions` is added. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as bearer token. @default none */
  readonly apiKey?: string | undefined;
  /** Further fields of the request, such as `temperature` or `max_tokens`. @default {} */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Further tries after a failed call or a response that is not a score. @default 2 */
  readonly retries?: number;
  /** Time per call in milliseconds. @default 60000 */
  readonly timeoutMs?: number;
  /** @default the global `fetch` */
  readonly fetch?: typeof fetch;
}

const maxResponseBytes = 1_000_000;
const firstWaitMs = 500;
const maxWaitMs = 30_000;

/** A failure after which the same call may succeed. */
class TemporaryFailure extends Error {
  readonly waitMs: number | undefined;
  constructor(message: string, waitMs?: number, cause?: unknown) {
    super(message, { cause });
    this.waitMs = waitMs;
  }
}

/** @throws ConfigError for an endpoint that cannot be called. */
export function checkEndpoint({ baseUrl, retries = 2, timeoutMs = 60_000 }: JudgeEndpoint): void {
  const isUrl = URL.canParse(baseUrl) && /^https?:$/u.test(new URL(baseUrl).protocol);
  if (!isUrl) {
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
  const { retries = 2 } = endpoint;
  for (let failures = 1; ; failures++) {
    let failure: TemporaryFailure;
    try {
      const text = await complete(endpoint, system, user, signal);
      const value = read(text);
      if (value !== null) return value;
      failure = new TemporaryFailure(
        `the response is not a score: ${JSON.stringify(note(text))}`,
        0,
      );
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TemporaryFailure)) throw error;
      failure = error;
    }
    if (failures > retries) {
      throw evaluatorError(
        `The judge "${endpoint.model}" gave no score in ${failures} tries; last: ${failure.message}.`,
        "Check the endpoint and the model, use a stronger one, or raise `retries`.",
        { model: endpoint.model, tries: failures },
        failure.cause,
      );
    }
    const wait = failure.waitMs ?? backOffMs(failures, { firstMs: firstWaitMs, jitter: 0.5 });
    await delay(Math.min(wait, maxWaitMs), signal);
  }
}

async function complete(
  endpoint: JudgeEndpoint,
  system: string,
  user: string,
  stop?: AbortSignal,
): Promise<string> {
  const { baseUrl, model, apiKey, body, timeoutMs = 60_000 } = endpoint;
  const send = endpoint.fetch ?? fetch;
  let status: number;
  let headers: Headers;
  let text: string;
  try {
    const response = await send(`${baseUrl.replace(/\/$/u, "")}/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        ...body,
        model,
        messages: [
          { role: "system", content: system },
          { role: "user", content: user },
        ],
      }),
      redirect: "error",
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(stop ? [stop] : [])]),
    });
    ({ status, headers } = response);
    text = await readLimited(
      response,
      maxResponseBytes,
      () => new TemporaryFailure("the response is longer than 1 MB", 0),
    );
  } catch (error) {
    if (error instanceof TemporaryFailure) throw error;
    throw new TemporaryFailure(`the call failed: ${(error as Error).message}`, undefined, error);
  }
  if (status === 408 || status === 429 || status >= 500) {
    const wait = readRetryAfterMs(headers.get("retry-after"));
    throw new TemporaryFailure(`status ${status}: ${note(text)}`, wait);
  }
  if (status !== 200) {
    throw evaluatorError(
      `The judge's endpoint responded with status ${status}: ${note(text)}`,
      "Check baseUrl, model and apiKey.",
      { status, model },
    );
  }
  return contentOf(text);
}

function contentOf(body: string): string {
  try {
    const parsed = JSON.parse(body) as { choices?: { message?: { content?: unknown } }[] };
    const content = parsed.choices?.[0]?.message?.content;
    if (typeof content === "string") return content;
  } catch {
    // Reported below, as any other body without a message.
  }
  throw new TemporaryFailure(`the response is no chat completion: ${note(body)}`, 0);
}
