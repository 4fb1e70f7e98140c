/** Reads the event stream of a completion: token ids and both kinds of log-probabilities. */
import { z } from "zod";
import { EventReader } from "../../../http/events.ts";
import { FireworksError, wireError } from "./fireworks-error.ts";

/** One sampled sequence. */
export interface FireworksSample {
  /** What ended it belongs to it, where the server returns it. */
  readonly tokens: Int32Array;
  /** Under the model's full softmax at temperature 1. */
  readonly logprobs: Float32Array;
  /** Under the distribution that was sampled from; null where the server does not return it. */
  readonly samplingLogprobs: Float32Array | null;
  readonly stopReason: "stop" | "length";
  /** Tokens of the prompt, as billed. */
  readonly promptTokens: number;
}

const eventSchema = z.object({
  choices: z
    .array(
      z.object({
        logprobs: z
          .object({
            content: z.array(
              z.object({
                token_id: z.int(),
                logprob: z.number().nullish(),
                sampling_logprob: z.number().nullish(),
              }),
            ),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
        raw_output: z.object({ completion_token_ids: z.array(z.int()).nullish() }).nullish(),
      }),
    )
    .default([]),
  usage: z.object({ prompt_tokens: z.int().nullish() }).nullish(),
});

/**
 * @param isEcho the tokens of the prompt come first.
 * @returns null for a stream that ended too early, which may be sampled again.
 * @throws FireworksError for one that reports an error, or that cannot be read.
 */
export function readCompletion(body: Uint8Array, isEcho: boolean): FireworksSample | null {
  const ids: number[] = [];
  const logprobs: number[] = [];
  const samplingLogprobs: number[] = [];
  const rawIds: number[] = [];
  let finish: string | null = null;
  let promptTokens = 0;
  const reader = new EventReader();
  for (const { event: name, data } of [...reader.push(body), ...reader.end()]) {
    if (data.trim() === "[DONE]") break;
    if (name === "error") throw failed(data);
    const event = parseEvent(data);
    if (event === null) return null;
    promptTokens = event.usage?.prompt_tokens ?? promptTokens;
    const [choice] = event.choices;
    if (choice === undefined) continue;
    for (const entry of choice.logprobs?.content ?? []) {
      ids.push(entry.token_id);
      logprobs.push(entry.logprob ?? Number.NaN);
      if (typeof entry.sampling_logprob === "number") samplingLogprobs.push(entry.sampling_logprob);
    }
    for (const id of choice.raw_output?.completion_token_ids ?? []) rawIds.push(id);
    finish = choice.finish_reason ?? finish;
  }
  if (finish === null) return null;
  if (!["stop", "length", "tool_calls"].includes(finish))
    throw failed(`the sequence ended with finish_reason "${finish}"`);
  checkIds(ids, rawIds);
  // Of an echoed prompt, the first token has no probability.
  if (logprobs.some((value, i) => Number.isNaN(value) && (i > 0 || !isEcho)))
    throw wireError("A sample has tokens without log-probabilities.");
  return {
    tokens: Int32Array.from(ids),
    logprobs: Float32Array.from(logprobs),
    samplingLogprobs:
      samplingLogprobs.length === ids.length ? Float32Array.from(samplingLogprobs) : null,
    stopReason: finish === "length" ? "length" : "stop",
    promptTokens,
  };
}

/** The ids of the log-probabilities are those of the completion; else neither can be trusted. */
function checkIds(ids: readonly number[], rawIds: readonly number[]): void {
  if (rawIds.length === 0 && ids.length > 0) return;
  if (ids.length === rawIds.length && ids.every((id, i) => id === rawIds[i])) return;
  throw wireError(
    `A sample has other token ids in raw_output (${rawIds.length}) than in logprobs (${ids.length}).`,
  );
}

function failed(detail: string): FireworksError {
  return new FireworksError({
    message: `Sampling failed on the server: ${detail.slice(0, 500)}`,
    fields: { detail },
  });
}

/** null for half of an event, where the stream was cut. @throws FireworksError for another shape. */
function parseEvent(data: string): z.output<typeof eventSchema> | null {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    return null;
  }
  const result = eventSchema.safeParse(json);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw wireError(`An event of a completion is not as expected: ${path.join(".")}: ${message}`);
}
