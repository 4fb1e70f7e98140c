/**
 * Puts the gateway in front of the backend's inference target and the rollout runner in front of the
 * gateway. The one place where the trainer meets both.
 */
import type { AgentFlow, Evaluator } from "../core/agent.ts";
import type { InferenceTarget } from "../core/backend.ts";
import { ConfigError } from "../core/errors.ts";
import { createGateway } from "../gateway/index.ts";
import { defaultRolloutLimits } from "../rollout/limits.ts";
import { createRolloutRunner } from "../rollout/runner.ts";
import type { TrainConfig } from "./config/train-config.ts";
import type { RunRollouts } from "./loop-context.ts";

/** Rollouts against one inference target, until disposed. */
export interface RolloutService extends AsyncDisposable {
  readonly run: RunRollouts;
}

export interface RolloutServiceOptions {
  readonly target: InferenceTarget;
  readonly flow: AgentFlow;
  readonly evaluator: Evaluator;
  readonly config: TrainConfig;
}

/** Opens what runs rollouts. */
export type OpenRollouts = (options: RolloutServiceOptions) => Promise<RolloutService>;

/** Opens a gateway on a free local port and a runner on it. */
export const createRolloutService: OpenRollouts = async ({ target, flow, evaluator, config }) => {
  if (target.kind !== "sampler") {
    throw new ConfigError({
      message: `The backend serves its model over ${target.kind}, which this version's gateway cannot capture.`,
      hint: "Use a backend that samples in this process, such as local.",
      fields: { kind: target.kind },
    });
  }
  const { nParallelTasks, timeoutS, evaluatorTimeoutS, retryLimit } = config.workflow;
  const gateway = createGateway({
    target,
    model: config.model.name,
    requestTimeoutMs: Math.ceil(timeoutS * 1000),
  });
  const runner = createRolloutRunner({
    host: gateway.sessions,
    flow,
    evaluator,
    limits: {
      ...defaultRolloutLimits,
      concurrency: nParallelTasks,
      timeoutMs: Math.ceil(timeoutS * 1000),
      evaluatorTimeoutMs: Math.ceil(evaluatorTimeoutS * 1000),
      retries: retryLimit,
    },
  });
  await gateway.listen();
  return {
    run: (requests, { isValidation, signal, onEvent }) => {
      const sampling = isValidation ? config.rollout.val : config.rollout.train;
      return runner.run(requests, { sampling, isValidation, signal, onEvent });
    },
    [Symbol.asyncDispose]: () => gateway.close(),
  };
};
