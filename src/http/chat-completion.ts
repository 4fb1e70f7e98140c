/** One response of a model behind an OpenAI-compatible endpoint, for what is no rollout: judges, users, writers of tasks. */
import { defined } from "../util/defined.ts";
import { backOffMs, retry } from "../util/retry.ts";
import { HttpFault, mayPass } from "./http-fault.ts";
import { JsonClient, textOf } from "./json-client.ts";

/** A model behind an OpenAI-compatible endpoint. */
export interface ChatEndpoint {
  /** URL to which `/chat/completions` is added. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as bearer token. @default none */
  readonly apiKey?: string | undefined;
  /** Further fields of the request, such as `temperature` or `max_tokens`. @default {} */
  readonly body?: Readonly<Record<string, unknown>>;
  /** @default the global `fetch` */
  readonly fetch?: typeof fetch;
}

/** What it wrote, and the tokens that it says it took; 0 where it does not say. */
export interface ChatCompletion {
  readonly content: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface ChatLimits {
  /** Of one try. */
  readonly timeoutMs: number;
  /** Of the response. @default 1000000 */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A response that is no chat completion with text. */
export class NoCompletion extends Error {
  readonly body: string;

  constructor(body: string) {
    super("the response is no chat completion");
    this.body = body;
  }
}

export const isHttpUrl = (url: string): boolean =>
  URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol);

/** Asks once. @throws HttpFault, NoCompletion, or the signal's reason */
export async function chatCompletion(
  { baseUrl, apiKey, model, body: options, fetch }: ChatEndpoint,
  messages: readonly object[],
  { timeoutMs, maxBytes = 1_000_000, signal }: ChatLimits,
): Promise<ChatCompletion> {
  const client = new JsonClient({
    baseUrl: baseUrl.replace(/\/$/u, ""),
    key: apiKey,
    timeoutMs,
    maxBytes,
    ...defined({ fetch }),
  });
  const body = { ...options, model, messages };
  return read(await client.request({ path: "/chat/completions", body, signal }, textOf));
}

/** Asks again after what may pass. @throws what the last try threw */
export async function patientCompletion(
  endpoint: ChatEndpoint,
  messages: readonly object[],
  limits: ChatLimits & { readonly tries: number },
): Promise<ChatCompletion> {
  return await retry(() => chatCompletion(endpoint, messages, limits), {
    signal: limits.signal,
    waitMs(error, failures) {
      const helps = error instanceof NoCompletion || (error instanceof HttpFault && mayPass(error));
      if (!helps || failures >= limits.tries) return null;
      const asked = error instanceof HttpFault ? error.retryAfterMs : undefined;
      return asked ?? backOffMs(failures, { firstMs: 500, maxMs: 30_000, jitter: 0.5 });
    },
  });
}

interface WireCompletion {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown };
}

const countOf = (value: unknown): number => (typeof value === "number" && value >= 0 ? value : 0);

function read(body: string): ChatCompletion {
  let parsed: WireCompletion | null;
  try {
    parsed = JSON.parse(body) as WireCompletion | null;
  } catch {
    throw new NoCompletion(body);
  }
  const content = parsed?.choices?.[0]?.message?.content;
  if (typeof content !== "string") throw new NoCompletion(body);
  const { usage } = parsed ?? {};
  return {
    content,
    promptTokens: countOf(usage?.prompt_tokens),
    completionTokens: countOf(usage?.completion_tokens),
  };
}
