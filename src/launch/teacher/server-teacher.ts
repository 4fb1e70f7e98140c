/**
 * A teacher behind vLLM's completions route, which returns `prompt_logprobs`: for each token of the prompt
 * a map from ids to log-probabilities that always has the token itself.
 * https://docs.vllm.ai/en/stable/api/vllm/sampling_params.html
 */
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Renderer } from "../../core/policy.ts";
import type { Teacher } from "../../core/teacher.ts";
import { mapConcurrent } from "../../util/concurrency.ts";
import { wordsOf, type HttpFault } from "../../http/http-fault.ts";
import { JsonClient } from "../../http/json-client.ts";
import { redact } from "../../util/redact.ts";

export interface ServerTeacherOptions {
  /** With or without `/v1`. */
  readonly url: string;
  /** null: what the server lists first. */
  readonly model: string | null;
  readonly apiKey?: string;
  /** Of one request, in milliseconds. */
  readonly timeoutMs: number;
  /** Requests in flight. */
  readonly concurrency: number;
  /** Attempts per request. @default 5 */
  readonly maxAttempts?: number;
  /** Before the second attempt, doubled for each further one, in milliseconds. @default 500 */
  readonly retryDelayMs?: number;
  /** Of one response; the default has room for 20 tokens at each of 128,000 positions. @default 256 */
  readonly maxResponseMiB?: number;
}

function teacherError(message: string, cause?: unknown): AgentTrainerError {
  return new AgentTrainerError({
    code: "UPSTREAM_FAILED",
    message,
    hint: "distillation.teacher must be the URL of a vLLM server that serves the teacher.",
    cause,
  });
}

interface TokenEntry {
  readonly logprob?: unknown;
  readonly decoded_token?: unknown;
}

/** What the teacher did, as the end of a sentence. */
function sayOf({ kind, status, text, message }: HttpFault): string {
  if (kind === "status") return `responded with status ${status}: ${wordsOf(text, 300)}`;
  return kind === "too-large" || kind === "redirect" ? `${message}.` : "did not respond.";
}

/** Tokens of the first response whose text is compared with the policy's. */
const comparedTokens = 64;

export function createServerTeacher(options: ServerTeacherOptions): Teacher {
  const { timeoutMs, concurrency, maxAttempts = 5, retryDelayMs = 500 } = options;
  const { maxResponseMiB = 256 } = options;
  const base = options.url.replace(/\/+$/u, "").replace(/\/v1$/u, "");
  const name = redact(options.url);
  let model = options.model;
  const client = new JsonClient({
    baseUrl: `${base}/v1/`,
    key: options.apiKey,
    timeoutMs,
    maxBytes: maxResponseMiB * 2 ** 20,
    retry: {
      tries: maxAttempts,
      firstMs: retryDelayMs,
      maxMs: timeoutMs,
      maxRetryAfterMs: timeoutMs,
    },
    toError: (fault) => teacherError(`The teacher ${name} ${sayOf(fault)}`, fault),
  });
  let student: Renderer | null = null;
  let isCompared = false;

  /** Texts of tokens that both sides can decode; a vocabulary of the same size may still be another. */
  function compare(tokens: Int32Array, entries: readonly (TokenEntry | null)[]): void {
    if (isCompared || student === null) return;
    isCompared = true;
    for (let i = 0; i < Math.min(tokens.length, comparedTokens); i++) {
      const given = entries[i]?.decoded_token;
      const own = student.decode(tokens.subarray(i, i + 1));
      // Parts of characters, special tokens and the marks of spaces are spelled in several ways.
      if (typeof given !== "string" || !/^\w+$/u.test(given) || !/^ ?\w+$/u.test(own)) continue;
      if (given === own.trim()) continue;
      throw new ConfigError({
        message: `The teacher ${name} has another tokenizer than the policy: token ${tokens[i]} is ${JSON.stringify(given)} there and ${JSON.stringify(own)} here.`,
        hint: "Use a teacher of the same family, with the same tokenizer.json.",
        fields: { teacher: name, token: tokens[i] },
      });
    }
  }

  async function score(tokens: Int32Array, signal: AbortSignal): Promise<Float64Array> {
    const body = { model, prompt: [...tokens], max_tokens: 1, temperature: 0, prompt_logprobs: 0 };
    const json = (await client.json({ path: "completions", body, signal })) as {
      readonly choices?: readonly { readonly prompt_logprobs?: unknown }[];
    };
    const list = json.choices?.[0]?.prompt_logprobs;
    if (!Array.isArray(list) || list.length !== tokens.length) {
      throw teacherError(
        `The teacher ${name} returned ${Array.isArray(list) ? `${list.length} prompt_logprobs` : "no prompt_logprobs"} for ${tokens.length} tokens.`,
      );
    }
    const maps = list as readonly (Readonly<Record<string, TokenEntry>> | null)[];
    const entries = maps.map((map, i) => map?.[String(tokens[i])] ?? null);
    compare(tokens, entries);
    // The first token has none; one that is missing later is refused where it is read.
    return Float64Array.from(entries, (entry) =>
      typeof entry?.logprob === "number" ? entry.logprob : Number.NaN,
    );
  }

  return {
    name,
    async start(renderer, signal) {
      student = renderer;
      const listed = (await client.json({ path: "models", signal })) as {
        readonly data?: readonly { readonly id?: unknown }[];
      };
      const first = listed.data?.[0]?.id;
      model ??= typeof first === "string" ? first : null;
      if (model !== null) return;
      throw new ConfigError({
        message: `The teacher ${name} lists no models.`,
        hint: "Name the model in distillation.teacher_model.",
        fields: { teacher: name },
      });
    },
    logprobs: (rows, signal) =>
      mapConcurrent(rows, concurrency, ({ tokens }, _, own) => score(tokens, own), signal),
    async [Symbol.asyncDispose]() {},
  };
}
