/**
 * Table of rLLM's configuration keys, and of verl's where rLLM passes them on, and what they are here:
 * most have the same name without `rllm.`; the others are renamed, accepted only with values that match
 * what happens anyway, or have no effect, which a notice says.
 */
import { compactFilteringKeys } from "./compact-filtering.ts";
import { earlierKeys } from "./keys/earlier-keys.ts";
import { fireworksKeys } from "./keys/fireworks-keys.ts";
import {
  byName,
  type CompatKey,
  estimators,
  from0,
  klNames,
  type Look,
  lossNames,
} from "./keys/key-kinds.ts";
import { rllmKeys } from "./keys/rllm-keys.ts";
import { verlActorKeys } from "./keys/verl-actor-keys.ts";
import { verlKeys } from "./keys/verl-keys.ts";

export const compatKeys: readonly CompatKey[] = [
  ...earlierKeys,
  ...compactFilteringKeys,
  ...rllmKeys,
  ...fireworksKeys,
  ...verlKeys,
  ...verlActorKeys,
];

const isExact = byName({ none: false, exact: true, near: true });

/** Conversions of values that have other names in rLLM or verl, by our key. */
export const compatValues: Readonly<Record<string, (value: unknown) => unknown>> = {
  // Without a training shape, the backend trains on the pooled service.
  backend: byName({ fireworks_serverless: "fireworks" }),
  // The modes of earlier runs.
  "dataset.deduplicate": isExact,
  "dataset.leak_check": isExact,
  "algorithm.estimator.type": estimators,
  "algorithm.loss.type": lossNames,
  "algorithm.kl_penalty": klNames,
  "algorithm.kl_estimator": klNames,
  "trainer.test_freq": from0,
  "trainer.save_freq": from0,
  "rollout.train.top_k": from0,
  "rollout.val.top_k": from0,
};

/** Conversions of values whose meaning differs with `rllm.` before the key; read after all others. */
export const rllmValues: Readonly<Record<string, (value: unknown, look: Look) => unknown>> = {
  // Total attempts there, retries here.
  "workflow.retry_limit": (value) => (typeof value === "number" ? Math.max(0, value - 1) : value),
  // There, it may be on and change nothing.
  "stepwise_advantage.enable": (value, look) =>
    value === true &&
    look("stepwise_advantage.mode") === "broadcast" &&
    look("stepwise_advantage.normalize_by_steps") !== true
      ? false
      : value,
};
