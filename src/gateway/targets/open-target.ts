/** The target that a backend or a user gives, as the gateway uses it. */
import type { InferenceTarget, HttpTarget } from "../../core/backend.ts";
import type { Sampler } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import type { Target, TargetServices } from "./target.ts";
import { createTokenTarget } from "./token-target.ts";
import type { TokenSource } from "./token-source.ts";
import { ConfigError } from "../../core/errors.ts";
import { overlay } from "../../core/overlay.ts";
import { createChatTarget } from "./workers/chat-target.ts";
import { Dispatcher } from "./workers/pool/dispatcher.ts";
import { defaultOffloadFrom, UpstreamRequests } from "./workers/requests/upstream-requests.ts";
import { WorkerPool } from "./workers/pool/worker-pool.ts";
import { httpTokenSource } from "./workers/http-token-source.ts";

const defaults = {
  maxAttempts: 5,
  retryDelayMs: 200,
  healthIntervalMs: 10_000,
  healthTimeoutMs: 5_000,
  maxResponseBytes: 268_435_456,
};

const defaultDeadlines = { connectMs: 10_000, firstByteMs: 300_000, betweenBytesMs: 120_000 };

// Node's longest timer.
const maxMs = 2 ** 31 - 1;

/** @throws ConfigError */
function withDefaults<T extends Record<string, number>>(
  fields: T,
  given: { readonly [K in keyof T]?: number | undefined },
): T {
  const all: Record<string, number> = { ...fields };
  for (const name of Object.keys(fields)) {
    const value = given[name];
    if (value === undefined) continue;
    if (!Number.isInteger(value) || value < 1 || value > maxMs) {
      throw new ConfigError({
        message: `${name} must be an integer from 1 to ${maxMs}, but it is ${value}.`,
        fields: { option: name, value },
      });
    }
    all[name] = value;
  }
  return all as T;
}

/** @throws ConfigError */
function createHttpTarget(target: HttpTarget, services: TargetServices): Target {
  const { renderer, tokenMode = renderer ? "cumulative" : "server", contextLength } = target;
  const { gate, model, requestTimeoutMs, promptLimit } = services;
  if (tokenMode === "cumulative" && !renderer) {
    throw new ConfigError({
      message: `tokenMode is "cumulative", but there is no renderer to make token ids of messages.`,
      hint: `Give the renderer of the model's family, or set tokenMode to "server".`,
      fields: { option: "tokenMode" },
    });
  }
  if (tokenMode === "server" && promptLimit !== undefined) {
    const { option, tokens: most } = promptLimit;
    throw new ConfigError({
      message: `${option}=${most} is not supported by this backend: its inference server renders prompts itself.`,
      hint: "Remove the option, or use a backend that has the model's chat template.",
      fields: { option, most },
    });
  }
  const limits = withDefaults(defaults, target);
  const deadlines = withDefaults(defaultDeadlines, target.deadlines ?? {});
  const { offloadFrom = defaultOffloadFrom } = target;
  if (!(offloadFrom >= 0)) {
    throw new ConfigError({
      message: `offloadFrom must be a number of at least 0, but it is ${offloadFrom}.`,
      fields: { option: "offloadFrom", value: offloadFrom },
    });
  }
  const upstream = new UpstreamRequests(offloadFrom, services.report);
  const workerPool = new WorkerPool(target.workers, { ...limits, deadlines, model });
  const dispatcher = new Dispatcher(workerPool, gate, limits);
  const shared = { workerPool, dispatcher, upstream, gate, requestTimeoutMs };
  if (tokenMode === "server" || !renderer) return createChatTarget(shared);
  const source = httpTokenSource({
    ...shared,
    ...defined({ contextLength }),
  });
  return overlay(createTokenTarget(source, renderer, promptLimit), {
    [Symbol.asyncDispose]: async () => {
      workerPool.close();
      await upstream.close();
    },
  });
}

/** @throws ConfigError for a target that cannot be used. */
export function openTarget(target: InferenceTarget, services: TargetServices): Target {
  if (target.kind === "http") return createHttpTarget(target, services);
  return createTokenTarget(samplerSource(target.sampler), target.renderer, services.promptLimit);
}

/** A sampler in this process as a source of tokens. */
export function samplerSource(sampler: Sampler): TokenSource {
  return {
    get contextLength() {
      return sampler.contextLength;
    },
    get appliesLogitRules() {
      return sampler.appliesLogitRules === true;
    },
    sample: async ({ tokens, params, n, adapter, signal, onChunk }) => ({
      samples: await sampler.sample({
        tokens,
        params,
        n,
        signal,
        ...defined({ adapter, onChunk }),
      }),
      logprobKind: "raw",
    }),
  };
}
