/**
 * Completions with token ids. A choice is sent when it is complete, as one event: what comes before it
 * are comments that keep the connection alive.
 */
import { randomUUID } from "node:crypto";
import { Hono, type Context } from "hono";
import { failureOf } from "../../../src/tinker-server/request-error.ts";
import { bodyText } from "../../../src/tinker-server/routes/read-body.ts";
import {
  checkJob,
  type SampledSequence,
  type SamplingOutput,
} from "../../../src/tinker-server/sampling/sampling.ts";
import { readCompletion, type CompletionRequest } from "./completion-request.ts";
import { findSampler } from "./completion-source.ts";
import { gatewayError } from "./errors.ts";
import type { FireworksParts } from "./parts.ts";

/** Clients give up on a silent connection after minutes. */
const keepAliveMs = 10_000;

export interface CompletionOptions {
  /** Failures that are this server's own. */
  readonly onError?: (error: unknown) => void;
}

export function completionRoutes(parts: FireworksParts, { onError }: CompletionOptions): Hono {
  const { service } = parts;
  const app = new Hono();
  app.post("/completions", async (c) => {
    const request = readCompletion(bodyText(c));
    const started = performance.now();
    // What is wrong with the request is said by the status, before a stream begins.
    checkJob(service.parts, request.job);
    const sampler = await findSampler(parts, request.model);
    const gone = new AbortController();
    const work = async (): Promise<readonly object[]> => {
      const output = await service.samplers.sampleNow(sampler, request.job, gone.signal);
      return eventsOf(request, output, parts, started);
    };
    if (request.stream) return streamOf(c, work, gone, onError);
    c.req.raw.signal.addEventListener("abort", () => gone.abort(), { once: true });
    const events = (await work()) as { choices: object[] }[];
    return c.json({ ...events.at(-1), choices: events.flatMap(({ choices }) => choices) });
  });
  return app;
}

function streamOf(
  c: Context,
  work: () => Promise<readonly object[]>,
  gone: AbortController,
  onError: CompletionOptions["onError"],
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (text: string): void => {
        if (!gone.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const alive = setInterval(() => write(": waiting\n\n"), keepAliveMs);
      try {
        for (const event of await work()) write(`data: ${JSON.stringify(event)}\n\n`);
        write("data: [DONE]\n\n");
      } catch (error) {
        const wire = gatewayError(failureOf(error, onError));
        write(`event: error\ndata: ${JSON.stringify(wire)}\n\n`);
      } finally {
        clearInterval(alive);
        if (!gone.signal.aborted) controller.close();
      }
    },
    cancel() {
      gone.abort();
    },
  });
  return c.body(body, 200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
  });
}

/** One for each choice; the last has what is said of all. */
function eventsOf(
  request: CompletionRequest,
  { sequences, promptLogprobs }: SamplingOutput,
  { service }: FireworksParts,
  started: number,
): readonly object[] {
  const { job, model } = request;
  const id = `cmpl-${randomUUID()}`;
  const created = Math.floor(Date.now() / 1000);
  const shown = request.onlyPrompt ? [] : sequences;
  const usage = {
    prompt_tokens: job.prompt.length,
    completion_tokens: shown.reduce((sum, { tokens }) => sum + tokens.length, 0),
  };
  const seconds = ((performance.now() - started) / 1000).toFixed(3);
  const facts = {
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
    ...(request.perfMetrics ? { perf_metrics: { "server-processing-time": seconds } } : {}),
  };
  const decode = (tokens: Int32Array): string => service.parts.renderer.decode(tokens);
  return sequences.map((sequence, index) => {
    const own = request.onlyPrompt ? none : sequence;
    const choice = choiceOf(request, own, promptLogprobs, decode);
    const isLast = index === sequences.length - 1;
    return {
      id,
      object: "text_completion",
      created,
      model,
      choices: [{ index, ...choice }],
      ...(isLast ? facts : {}),
    };
  });
}

const empty = new Float32Array(0);
const none: SampledSequence = {
  tokens: new Int32Array(0),
  logprobs: empty,
  rawLogprobs: empty,
  stopReason: "length",
};

function choiceOf(
  request: CompletionRequest,
  { tokens, logprobs, rawLogprobs, stopReason }: SampledSequence,
  promptLogprobs: Float32Array | null,
  decode: (tokens: Int32Array) => string,
): object {
  const { job, echoed, isWhole } = request;
  const first = job.prompt.length - echoed;
  const prompt = job.prompt.subarray(first);
  const ids = [...prompt, ...tokens];
  const text = decode(tokens);
  const end = (job.stop ?? [])
    .map((stop) => text.indexOf(String(stop)))
    .filter((at) => at >= 0)
    .toSorted((a, b) => a - b)[0];
  const entry = (
    id: number,
    raw: number | undefined,
    sampled: number | null | undefined,
  ): object => {
    // Nothing comes before the first token of a prompt.
    const logprob = raw === undefined || Number.isNaN(raw) ? 0 : raw;
    const token = decode(Int32Array.of(id));
    return { token, token_id: id, logprob, sampling_logprob: sampled ?? null };
  };
  const scores = promptLogprobs?.subarray(first);
  const content = [
    ...Array.from(prompt, (id, i) => entry(id, scores?.[i], null)),
    ...Array.from(tokens, (id, i) => entry(id, rawLogprobs[i], isWhole ? logprobs?.[i] : null)),
  ];
  return {
    text: (echoed > 0 ? decode(Int32Array.from(prompt)) : "") + text.slice(0, end),
    logprobs: request.logprobs ? { content } : null,
    finish_reason: stopReason,
    raw_output: {
      completion_token_ids: ids,
      prompt_token_ids: Array.from(job.prompt),
    },
  };
}
