/** Workers that take prompts as token ids, as a source of tokens. */
import type { Sample } from "../../../core/policy.ts";
import type { SampleCall, SampleCallRequest, TokenSource } from "../token-source.ts";
import { defined } from "../../../util/defined.ts";
import type { ChatTargetOptions } from "./chat-target.ts";
import { ResponseCollector } from "./response-collector.ts";
import type { ChoiceCollector } from "./choice-collector.ts";
import type { TokenAdapter } from "./adapters/adapter.ts";
import { tokenAdapters } from "./adapters/token-adapters.ts";
import type { UpstreamRequests } from "./requests/upstream-requests.ts";
import { malformed, UpstreamError } from "./upstream-error.ts";
import { logprobKindOf, type Worker, type WorkerFacts } from "./pool/worker.ts";

export interface TokenSourceOptions extends ChatTargetOptions {
  readonly contextLength?: number;
}

interface OneSample {
  readonly upstream: UpstreamRequests;
  readonly worker: Worker;
  readonly facts: WorkerFacts;
  readonly adapter: TokenAdapter;
  readonly request: SampleCallRequest;
  readonly signal: AbortSignal;
  readonly requestTimeoutMs: number;
}

/** `n` sequences by one request; `first` is the index of the first of them. */
async function requestOne(sample: OneSample, n: number, first: number): Promise<ResponseCollector> {
  const { upstream, worker, facts, adapter, request, signal } = sample;
  const { tokens, params, onChunk } = request;
  const stream = onChunk !== undefined && adapter.streams;
  const own = first === 0 ? params : { ...params, seed: (params.seed + first) % 2 ** 32 };
  const collector = new ResponseCollector(worker.id, n);
  try {
    const { kind, model } = facts;
    const pieces = upstream.run(
      worker,
      { form: "tokens", kind, request: { tokens, params: own, n, model, stream } },
      { signal, ...(stream ? {} : { deadlines: { firstByteMs: sample.requestTimeoutMs } }) },
    );
    for await (const together of pieces) {
      for (const piece of together) {
        collector.add(piece, (part, fresh, choice) => {
          if (fresh === 0 || !onChunk) return;
          onChunk({
            index: first + part.choice,
            tokens: Int32Array.from(choice.tokens.slice(-fresh)),
            logprobs: Float32Array.from(choice.logprobs.slice(-fresh)),
          });
        });
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return collector;
  }
  if (signal.aborted) return collector;
  collector.requireFinish();
  // Every sequence has a token: there is no room for an empty one.
  if (collector.choices.some((choice) => choice.tokens.length === 0)) {
    throw malformed(worker.id, "sent no token ids");
  }
  return collector;
}

async function requestAll(sample: OneSample): Promise<readonly ResponseCollector[]> {
  const { adapter, request } = sample;
  if (adapter.supportsN || request.n === 1) return [await requestOne(sample, request.n, 0)];
  // One failure ends the others, too.
  const all = new AbortController();
  const signal = AbortSignal.any([sample.signal, all.signal]);
  try {
    return await Promise.all(
      Array.from({ length: request.n }, (_, i) => requestOne({ ...sample, signal }, 1, i)),
    );
  } finally {
    all.abort();
  }
}

function toSample(choice: ChoiceCollector, weightVersion: number): Sample {
  return {
    tokens: Int32Array.from(choice.tokens),
    logprobs: Float32Array.from(choice.logprobs),
    stopReason: choice.stopReason,
    weightVersion,
  };
}

function noTokenPrompts({ id }: Worker, { kind }: WorkerFacts): UpstreamError {
  return new UpstreamError({
    failure: "refused",
    status: 502,
    reason: "no_token_prompts",
    message: `The worker "${id}" takes no prompts of token ids, as servers of the kind "${kind}" do not. Let it render (tokenMode "server", no --tokenizer), or say which kind it is.`,
    workerId: id,
  });
}

function hasChangedPrompt({ promptIds, usage }: ResponseCollector, tokens: Int32Array): boolean {
  if (usage && usage.promptTokens !== tokens.length) return true;
  if (!promptIds) return false;
  return promptIds.length !== tokens.length || tokens.some((id, i) => id !== promptIds[i]);
}

export function httpTokenSource(options: TokenSourceOptions): TokenSource {
  const { workerPool, dispatcher, upstream, gate, requestTimeoutMs } = options;

  async function sampleOnce(
    worker: Worker,
    facts: WorkerFacts,
    request: SampleCallRequest,
  ): Promise<SampleCall> {
    const adapter = tokenAdapters[facts.kind];
    if (!adapter) throw noTokenPrompts(worker, facts);
    const { weightVersion } = gate;
    const version = weightVersion ?? 0;
    const { signal } = request;
    const limits = { upstream, requestTimeoutMs };
    const responses = await requestAll({ ...limits, worker, facts, adapter, request, signal });
    for (const response of responses) {
      response.promptChanged = hasChangedPrompt(response, request.tokens);
    }
    const untrainable = responses
      .map((response) => response.doubt())
      .find((doubt) => doubt !== undefined);
    return {
      samples: responses.flatMap(({ choices }) =>
        choices.map((choice) => toSample(choice, version)),
      ),
      logprobKind: logprobKindOf(worker, facts),
      worker: worker.id,
      ...(weightVersion === null ? { isVersionUnknown: true } : {}),
      ...defined({ untrainable }),
    };
  }

  return {
    get contextLength() {
      return options.contextLength ?? workerPool.contextLength;
    },
    ready: () => workerPool.ready(),
    async sample(request) {
      try {
        return await dispatcher.run(request, (worker, facts, tries) => {
          if (tries > 1) request.onRestart();
          return sampleOnce(worker, facts, request);
        });
      } catch (error) {
        if (!request.signal.aborted) throw error;
        const nothing = new ResponseCollector("", request.n);
        const version = gate.weightVersion ?? 0;
        const samples = nothing.choices.map((choice) => toSample(choice, version));
        return { samples, logprobKind: "raw" };
      }
    },
  };
}
