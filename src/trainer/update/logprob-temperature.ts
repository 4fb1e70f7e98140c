/** Which policy a run trains when it does not sample at temperature 1, and the warnings about it. */
import type { LogprobTemperature } from "../../algorithms/rows/step-logprobs.ts";
import type { BackendCapabilities, TrainingBackend } from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { TrainConfig } from "../../config/train-config.ts";

/** The configured value, if the backend supports it. */
export function logprobTemperatureOf(
  { algorithm }: TrainConfig,
  { temperature = false }: BackendCapabilities,
): LogprobTemperature {
  return temperature ? algorithm.logprobTemperature : "one";
}

/** Warnings where tokens are not sampled from the policy that is trained. */
export function temperatureWarnings(
  config: TrainConfig,
  { name, capabilities }: Pick<TrainingBackend, "name" | "capabilities">,
): string[] {
  const { temperature } = config.rollout.train;
  if (temperature === 1) return [];
  const option = `rollout.train.temperature=${temperature}`;
  if (temperature === 0) {
    return [
      `${option}: tokens are chosen greedily, but the policy at temperature 1 is trained, and all rollouts of a task are the same.`,
    ];
  }
  if (logprobTemperatureOf(config, capabilities) === "sampling") return [];
  const gap =
    "Rewards are those of the former, updates those of the latter, and nothing corrects for the difference.";
  if (config.algorithm.logprobTemperature === "one") {
    return [
      `${option} with algorithm.logprob_temperature=one: tokens are sampled from softmax(logits / ${temperature}), but the policy at temperature 1 is trained. ${gap}`,
    ];
  }
  const others = backendsThat((row) => row.temperature === true).join(" and ");
  return [
    `${option}: the backend ${name} can train log-probabilities at temperature 1 only, so algorithm.logprob_temperature=sampling has no effect. Tokens are sampled from softmax(logits / ${temperature}), but the policy at temperature 1 is trained. ${gap} Sample at temperature 1, or use a backend that trains at any temperature: ${others}.`,
  ];
}

/** Why log-probabilities of some rows are not used; null where all are. */
export function lackWarning(
  rows: readonly TrainingRow[],
  config: TrainConfig,
  { forward }: BackendCapabilities,
): string | null {
  const lacking = rows.filter(({ lacksSamplingLogprobs = false }) => lacksSamplingLogprobs);
  const [first] = lacking;
  if (first === undefined) return null;
  const { temperature = 1 } = first;
  const which =
    temperature === 1
      ? `after rollout.train.temperature=${config.rollout.train.temperature}`
      : "before temperature";
  const remedy =
    temperature === 1
      ? 'a vLLM server with --logprobs-mode raw_logprobs and logprobKind "raw"'
      : 'a vLLM server with --logprobs-mode processed_logprobs and logprobKind "processed"';
  const what = `${lacking.length} of ${rows.length} rows come from a server that returns log-probabilities ${which}, but the policy at temperature ${temperature} is trained.`;
  return forward
    ? `${what} The trainer computes them itself before each update, which costs a forward pass and cannot distinguish rollouts of earlier weights from those of the current ones. To use the server's own, choose ${remedy}.`
    : `${what} The backend cannot compute them itself, so the ratios of the loss are wrong by the difference. Choose ${remedy}, or sample at temperature 1.`;
}
