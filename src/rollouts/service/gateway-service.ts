/**
 * Puts the gateway in front of the backend's inference target and the rollout runner in front of the
 * gateway. The only place where the trainer uses both.
 */
import type { InferenceTarget } from "../../core/backend.ts";
import { createGateway, type ExchangeListener, type TraceStore } from "../../gateway/index.ts";
import { createToken } from "../../http/keys.ts";
import { defaultRolloutLimits, type RolloutRequest } from "../rollout-request.ts";
import { createRolloutRunner } from "../runner.ts";
import { defined } from "../../util/defined.ts";
import { shortModelName } from "../../util/model-name.ts";
import { adaptersOf } from "../../config/adapter-map.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { Rollouts } from "./agent-spec.ts";
import { createWeightGate, openGate, type WeightGate } from "./weight-gate.ts";
import { ConfigError } from "../../core/errors.ts";
import type { SideCallRule, SideCallUse } from "../../core/side-call.ts";
import { nearestName } from "../../util/nearest-name.ts";
import type { UnstampedEvent } from "../../core/events.ts";
import type { Episode } from "../../core/trajectory.ts";

interface RolloutOptions {
  readonly isValidation: boolean;
  readonly signal: AbortSignal;
  /** When more rollouts than this have failed, the rest are cut off and returned as `aborted`. */
  readonly maxFailures?: number;
  readonly onEvent: (event: UnstampedEvent) => void;
}

/** Runs rollouts; resolves with one episode per request, in the same order. */
export type RunRollouts = (
  requests: readonly RolloutRequest[],
  options: RolloutOptions,
) => Promise<readonly Episode[]>;

/** @throws ConfigError for a rule that is not among `rules`. */
function checkSideCalls(use: SideCallUse, rules: readonly SideCallRule[] = []): void {
  if (typeof use === "string") return;
  const known = [...new Set(rules.map(({ name }) => name))];
  const unknown = use.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, known);
  throw new ConfigError({
    message: `rollout.side_calls names the rule ${unknown}, but the agent has ${known.length === 0 ? "no rules" : known.join(", ")}.`,
    hint:
      known.length === 0
        ? "Give the agent rules (sideCalls), or leave the option out."
        : nearest === undefined
          ? "Name one of its rules, or exclude for all of them."
          : `Is it ${nearest}?`,
    fields: { unknown, known },
  });
}

/** Rollouts against one inference target, until disposed. */
export interface RolloutService extends AsyncDisposable {
  readonly run: RunRollouts;
  readonly gate: WeightGate;
}

export interface RolloutServiceOptions {
  readonly target: InferenceTarget;
  readonly rollouts: Rollouts;
  readonly config: TrainConfig;
  /** Version of the weights that are served. @default 0 */
  readonly weightVersion?: number;
  /** Episodes also hold calls that cannot be trained on, for evaluations. @default false */
  readonly keepsUntrainable?: boolean;
  /** @see ScorePolicy.isScoredLater */
  readonly isScoredLater?: boolean;
  /** Where calls are kept until their rollout ends. @default the gateway's own */
  readonly store?: TraceStore;
  /** Receives the HTTP bodies of calls. @default none */
  readonly exchanges?: ExchangeListener;
}

/** Warnings of the gateway while rollouts run, as events of the run. */
class EarlyWarnings {
  readonly #waiting: string[] = [];
  #onEvent: RolloutOptions["onEvent"] | undefined;

  /** Reports to the listener of the rollouts that began last. */
  follow(onEvent: RolloutOptions["onEvent"]): void {
    this.#onEvent = onEvent;
    for (const message of this.#waiting.splice(0)) this.tell(message);
  }

  tell(message: string): void {
    if (this.#onEvent) this.#onEvent({ type: "warning", message });
    else this.#waiting.push(message);
  }
}

const toMs = (seconds: number): number => Math.ceil(seconds * 1000);

/** Opens a gateway at the address of `gateway.host` and a runner on it. */
export async function createRolloutService(
  options: RolloutServiceOptions,
): Promise<RolloutService> {
  const { rollouts, config, weightVersion = 0, keepsUntrainable = false } = options;
  checkSideCalls(config.rollout.sideCalls, rollouts.program.sideCalls);
  const { isScoredLater = false } = options;
  const { target } = options;
  const { maxPromptLength } = config.data;
  const adapters = adaptersOf(config.model.adapterByRole);
  const { nParallelTasks, retryLimit, ...seconds } = config.workflow;
  const { failureReward, retryAgentErrors, rewardSource, solvedReward } = config.rollout;
  const requestTimeoutMs = toMs(Math.min(seconds.callTimeoutS, seconds.timeoutS));
  const warnings = new EarlyWarnings();
  const gateway = createGateway({
    target,
    model: shortModelName(config.model.name),
    requestTimeoutMs,
    // Agents need the tokens of their sessions only: this one stays here.
    adminToken: createToken("admin"),
    onWarning: (message) => warnings.tell(message),
    ...(maxPromptLength === null
      ? {}
      : { promptLimit: { tokens: maxPromptLength, option: "data.max_prompt_length" } }),
    ...defined({ exchanges: options.exchanges, store: options.store }),
  });
  gateway.setWeightVersion(weightVersion);
  const runner = createRolloutRunner({
    host: gateway.sessions,
    ...rollouts,
    keepsUntrainable,
    untrainedRoles: config.rollout.untrainedRoles,
    ...(adapters.size === 0 ? {} : { adapters: Object.fromEntries(adapters) }),
    sideCallUse: config.rollout.sideCalls,
    failures: { reward: failureReward, retriesAgent: retryAgentErrors },
    scores: { source: rewardSource, solvedReward, isScoredLater },
    limits: {
      ...defaultRolloutLimits,
      concurrency: nParallelTasks,
      setUpTimeoutMs: toMs(seconds.setupTimeoutS),
      timeoutMs: toMs(seconds.timeoutS),
      evaluatorTimeoutMs: toMs(seconds.evaluatorTimeoutS),
      tearDownTimeoutMs: toMs(seconds.teardownTimeoutS),
      retries: retryLimit,
    },
  });
  const { host, port, publicUrl } = config.gateway;
  await gateway.listen({
    port,
    ...(host === null ? {} : { host }),
    ...(publicUrl === null ? {} : { publicUrl }),
  });
  return {
    run: (requests, how) => {
      warnings.follow(how.onEvent);
      const sampling = how.isValidation ? config.rollout.val : config.rollout.train;
      return runner.run(requests, { ...how, sampling });
    },
    gate: target.kind === "http" ? createWeightGate(gateway, requestTimeoutMs) : openGate,
    [Symbol.asyncDispose]: async () => {
      await gateway.close();
      await rollouts.program.dispose?.();
    },
  };
}
