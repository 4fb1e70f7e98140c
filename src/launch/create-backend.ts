/**
 * Creates the backend that the option `backend` names. The only list of the backends of this package that
 * can be created by name; each is imported on demand, since it needs optional packages.
 */
import type { PullProgress } from "../backends/local/index.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { TrainingBackend } from "../core/backend.ts";
import type { BackendName } from "../core/capabilities.ts";
import { ConfigError } from "../core/errors.ts";
import { defined } from "../util/defined.ts";
import { nearestName } from "../util/nearest-name.ts";
import { loadExport } from "./load-module.ts";
import { missingPackage } from "./missing-package.ts";

/** What the trainer wants to know of a backend that it creates. */
export interface BackendListeners {
  /** Progress of the download of a model. */
  readonly onPull?: (progress: PullProgress) => void;
  /** What the backend creates, waits for and deletes, as sentences. */
  readonly onProgress?: (message: string) => void;
  /** Warnings of the backend, as sentences. */
  readonly onWarning?: (message: string) => void;
}

type CreateBackend = (
  config: TrainConfig,
  listeners: BackendListeners,
) => TrainingBackend | Promise<TrainingBackend>;

const creators: Readonly<Record<BackendName, CreateBackend>> = {
  async local({ local }, { onPull, onWarning }) {
    const { threads, trainingMemoryMib, cacheMemoryMib, ...others } = local;
    const { createLocalBackend } = await import("../backends/local/index.ts");
    return createLocalBackend({
      ...others,
      trainingMemoryMiB: trainingMemoryMib,
      ...(threads === null ? {} : { threads }),
      ...(cacheMemoryMib === null ? {} : { cacheMemoryMiB: cacheMemoryMib }),
      ...defined({ onPull, onWarning }),
    });
  },
  async tinker({ tinker }, { onWarning }) {
    const { createTinkerBackend } = await import("../backends/tinker/index.ts");
    const { baseUrl, tokenizer, contextLength, snapshots } = tinker;
    return createTinkerBackend({
      checkpointTtlSeconds: tinker.checkpointTtlS,
      snapshots,
      ...defined({ onWarning }),
      ...(baseUrl === null ? {} : { baseUrl }),
      ...(tokenizer === null ? {} : { tokenizer }),
      ...(contextLength === null ? {} : { contextLength }),
    });
  },
  async fireworks({ fireworks, budget }, { onWarning, onProgress }) {
    const { createFireworksBackend } = await import("../backends/fireworks/index.ts");
    const { baseUrl, account, tokenizer, contextLength, outputModel } = fireworks;
    const { trainingShape, region } = fireworks;
    const { gpuHour } = budget.prices;
    return createFireworksBackend({
      trainAttention: fireworks.trainAttn,
      trainMlp: fireworks.trainMlp,
      trainUnembed: fireworks.trainUnembed,
      client: {
        deadlineMs: fireworks.timeoutS * 1000,
        patienceMs: fireworks.patienceS * 1000,
        maxConcurrentSamples: fireworks.maxConcurrentSamples,
      },
      ...(trainingShape === null
        ? {}
        : {
            dedicated: {
              trainingShape,
              trainerReplicas: fireworks.trainerReplicas,
              deploymentReplicas: fireworks.deploymentReplicas,
              capacityTimeoutMs: fireworks.capacityTimeoutS * 1000,
              readyTimeoutMs: fireworks.readyTimeoutS * 1000,
              weightSyncTimeoutMs: fireworks.weightSyncTimeoutS * 1000,
              inactivityS: fireworks.inactivityTimeoutS,
              requiresPrice: budget.usd !== null,
              ...(region === null ? {} : { region }),
              ...(gpuHour === null ? {} : { gpuHourUsd: gpuHour }),
            },
          }),
      ...defined({ onWarning, onProgress }),
      ...(baseUrl === null ? {} : { baseUrl }),
      ...(account === null ? {} : { account }),
      ...(tokenizer === null ? {} : { tokenizer }),
      ...(contextLength === null ? {} : { contextLength }),
      ...(outputModel === null ? {} : { outputModel }),
    });
  },
  async verl(config, { onPull, onProgress }) {
    const { createVerlBackend } = await import("../backends/verl/index.ts");
    const { verlOptionsOf } = await import("./verl-options.ts");
    const options = verlOptionsOf(config, process.env);
    return createVerlBackend({ ...options, ...defined({ onPull, onProgress }) });
  },
};

const backendNames: readonly string[] = Object.keys(creators);

async function importCreator(spec: string, folder: string): Promise<CreateBackend> {
  const defaults = ["createBackend", "default"];
  const create = await loadExport({ spec, folder, option: "backend", defaults });
  if (typeof create === "function") return create as CreateBackend;
  throw new ConfigError({
    message: `backend=${spec} must name a function that creates a TrainingBackend; got ${typeof create}.`,
    fields: { spec },
  });
}

const isBackendName = (name: string): name is BackendName => Object.hasOwn(creators, name);

/** @throws ConfigError for what is neither a name nor an object with the methods of a backend. */
export function checkBackendForm(backend: unknown): void {
  if (typeof backend === "string") return;
  const { name, start, updatePolicy, capabilities } = Object(backend) as Partial<TrainingBackend>;
  const isBackend =
    typeof name === "string" &&
    typeof start === "function" &&
    typeof updatePolicy === "function" &&
    typeof capabilities === "object";
  if (typeof backend === "object" && isBackend) return;
  const isObject = typeof backend === "object";
  throw new ConfigError({
    message: `backend must be the name of a backend or a TrainingBackend; got ${isObject ? "an object without the methods of one" : `a ${typeof backend}`}.`,
    hint: `Pass one of ${backendNames.join(", ")}, or what createLocalBackend() or another function of a backend returns.`,
    fields: { type: typeof backend },
  });
}

/** @throws ConfigError for a name that is neither a backend of this package nor `path#export`. */
export function checkBackendName(name: string): void {
  if (isBackendName(name) || /[./#\\]/u.test(name)) return;
  const nearest = nearestName(name, backendNames);
  throw new ConfigError({
    message: `There is no backend ${JSON.stringify(name)}. Allowed: ${backendNames.join(", ")}, or path#export of a function that creates one.`,
    ...(nearest === undefined ? {} : { hint: `Did you mean backend=${nearest}?` }),
    fields: { name, known: backendNames },
  });
}

/**
 * Creates the backend that `config.backend` names, or calls the function `path#export` with the
 * configuration. The caller disposes of it.
 * @param folder what a path is relative to.
 * @throws ConfigError for an unknown name; ENGINE_NOT_INSTALLED when its packages are missing.
 */
export async function createBackend(
  config: TrainConfig,
  folder: string,
  listeners: BackendListeners = {},
): Promise<TrainingBackend> {
  const name = config.backend;
  checkBackendName(name);
  try {
    const create = isBackendName(name) ? creators[name] : await importCreator(name, folder);
    return await create(config, listeners);
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
}
