/** Every benchmark. A new one: a file with a `Benchmark`, a line here, a section in README.md. */
import { collect } from "./collect/collect.ts";
import { demo } from "./demo/demo.ts";
import { engineAdapters } from "./engine-adapters/engine-adapters.ts";
import { engineBusy } from "./engine-busy/engine-busy.ts";
import { engineInt8 } from "./engine-int8/engine-int8.ts";
import { engineLlama } from "./engine-llama/engine-llama.ts";
import { engineSample } from "./engine/sample.ts";
import { engineTrain } from "./engine/train.ts";
import { firstHour, firstHourModel } from "./first-hour/first-hour.ts";
import { gatewayInTraining } from "./gateway-in-training/health.ts";
import { gatewayPeers } from "./gateway-peers/gateway-peers.ts";
import { gatewayThread } from "./gateway-thread/gateway-thread.ts";
import { gateway } from "./gateway/gateway.ts";
import { grpoStep } from "./grpo-step/grpo-step.ts";
import type { Benchmark } from "./harness/benchmark.ts";
import { hostileSchemas } from "./hostile-schemas/hostile-schemas.ts";
import { personalData } from "./personal-data/personal-data.ts";
import { rows } from "./rows/rows.ts";
import { start } from "./start/start.ts";
import { structured } from "./structured/structured.ts";
import { tinker } from "./tinker/tinker.ts";
import { trainerAsync } from "./trainer-async/trainer-async.ts";
import { trainerOverhead } from "./trainer-overhead/trainer-overhead.ts";

export const benchmarks: readonly Benchmark[] = [
  engineTrain,
  engineSample,
  engineLlama,
  engineInt8,
  engineBusy,
  engineAdapters,
  grpoStep,
  start,
  structured,
  hostileSchemas,
  gateway,
  gatewayInTraining,
  gatewayPeers,
  gatewayThread,
  tinker,
  personalData,
  rows,
  collect,
  trainerAsync,
  trainerOverhead,
  demo,
  firstHour,
  firstHourModel,
];
