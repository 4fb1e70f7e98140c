/**
 * Puts the gateway in front of the backend's inference target and the rollout runner in front of the
 * gateway. The one place where the trainer meets both.
 */
import type { InferenceTarget } from "../core/backend.ts";
import { ConfigError } from "../core/errors.ts";
import { createGateway } from "../gateway/index.ts";
import { defaultRolloutLimits } from "../rollout/limits.ts";
import { createRolloutRunner } from "../rollout/runner.ts";
import type { TrainConfig } from "./config/train-config.ts";
import type { RunRollouts } from "./loop-context.ts";
import type { Rollouts } from "./ways-in.ts";

/** Rollouts against one inference target, until disposed. */
export interface RolloutService extends AsyncDisposable {
  readonly run: RunRollouts;
}

export interface RolloutServiceOptions {
  readonly target: InferenceTarget;
  readonly rollouts: Rollouts;
  readonly config: TrainConfig;
}

const toMs = (seconds: number): number => Math.ceil(seconds * 1000);

/** Opens what runs rollouts. */
export type OpenRollouts = (options: RolloutServiceOptions) => Promise<RolloutService>;

/** Opens a gateway on a free local port and a runner on it. */
export const createRolloutService: OpenRollouts = async ({ target, rollouts, config }) => {
  if (target.kind !== "sampler") {
    throw new ConfigError({
      message: `The backend serves its model over ${target.kind}, which this version's gateway cannot capture.`,
      hint: "Use a backend that samples in this process, such as local.",
      fields: { kind: target.kind },
    });
  }
  const { nParallelTasks, retryLimit, ...seconds } = config.workflow;
  const gateway = createGateway({
    target,
    model: config.model.name,
    requestTimeoutMs: toMs(Math.min(seconds.callTimeoutS, seconds.timeoutS)),
  });
  const runner = createRolloutRunner({
    host: gateway.sessions,
    ...rollouts,
    untrainedRoles: config.rollout.untrainedRoles,
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
  await gateway.listen();
  return {
    run: (requests, options) => {
      const sampling = options.isValidation ? config.rollout.val : config.rollout.train;
      return runner.run(requests, { ...options, sampling });
    },
    [Symbol.asyncDispose]: () => gateway.close(),
  };
};
