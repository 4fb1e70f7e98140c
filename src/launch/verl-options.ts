/** Options of the `verl` backend, from a run's configuration and the environment variables. Starts nothing. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { VerlAttachment, VerlBackendOptions } from "../backends/verl/index.ts";
import { ConfigError } from "../core/errors.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { defined } from "../util/defined.ts";
import { pythonIn } from "../util/process/python-in.ts";

const bridgeTokenVariable = "AGENT_TRAINER_BRIDGE_TOKEN";

/** Where `agent-trainer verl setup` creates its environment, relative to the current folder. */
export const verlEnvironment: string = join(".agent-trainer", "verl");

type Environment = Readonly<Record<string, string | undefined>>;

function findPython({ verl }: TrainConfig): string {
  if (verl.python !== null) return verl.python;
  const own = pythonIn(verlEnvironment);
  return existsSync(own) ? own : "python3";
}

function attachment(url: string | null, token: string | undefined): VerlAttachment {
  if (url === null || token === undefined || token === "") {
    const missing = url === null ? "verl.launcher.url" : bridgeTokenVariable;
    throw new ConfigError({
      message: `verl.launcher=attach requires ${missing}, which is not set.`,
      hint: `Set verl.launcher.url to the bridge's address, and ${bridgeTokenVariable} to its token.`,
      fields: { option: missing },
    });
  }
  return { url, token };
}

/** @throws ConfigError for options that cannot be combined. */
export function verlOptionsOf(config: TrainConfig, env: Environment): VerlBackendOptions {
  const { verl, training, rollout, data, algorithm } = config;
  const { rayAddress, setupHook, placement, launcher } = verl;
  const { learningRate, beta1, beta2, eps, weightDecay, maxGradNorm } = training;
  const { temperature, topP, topK, maxTokens } = rollout.train;
  return {
    run: {
      optim: { learningRate, beta1, beta2, eps, weightDecay, maxGradNorm },
      batchSize: data.trainBatchSize,
      groupSize: rollout.n,
      temperature,
      logprobTemperature: algorithm.logprobTemperature,
      topP,
      topK,
      maxTokens,
      reference: algorithm.klBeta > 0 || algorithm.useKlInReward,
      critic: algorithm.estimator.type === "gae",
    },
    python: findPython(config),
    gpusPerNode: verl.gpusPerNode,
    nodes: verl.nodes,
    placement: placement.type,
    inference: verl.inference,
    tensorParallel: verl.tensorParallel,
    overrides: verl.config,
    startTimeoutMs: verl.startTimeoutS * 1000,
    timeoutMs: verl.timeoutS * 1000,
    ...(placement.type === "disaggregated"
      ? defined({
          inferenceNodes: placement.nodes,
          inferenceGpusPerNode: placement.gpusPerNode ?? undefined,
        })
      : {}),
    ...(rayAddress === null ? {} : { rayAddress }),
    ...(setupHook === null ? {} : { setupHook }),
    ...(launcher.type === "attach"
      ? { attach: attachment(launcher.url, env[bridgeTokenVariable]) }
      : {}),
    ...(launcher.type === "job"
      ? { job: { dashboard: launcher.url ?? "http://127.0.0.1:8265" } }
      : {}),
  };
}
