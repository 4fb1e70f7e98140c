/** Backends for `backend:`. Loaded on demand, because each needs its own optional packages. */
import type { TrainingBackend } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { createByteProgress } from "../terminal/byte-progress.ts";
import { loadExport } from "./load-module.ts";
import { missingPackage } from "../terminal/report-error.ts";

type MakeBackend = (config: TrainConfig) => TrainingBackend | Promise<TrainingBackend>;

const loaders: Readonly<Record<string, MakeBackend>> = {
  async local({ local }) {
    const { threads, trainingMemoryMib, cacheMemoryMib, ...others } = local;
    const { createLocalBackend } = await import("../../backends/local/index.ts");
    const progress = createByteProgress({ stream: process.stderr, isQuiet: false });
    return createLocalBackend({
      ...others,
      trainingMemoryMiB: trainingMemoryMib,
      ...(threads === null ? {} : { threads }),
      ...(cacheMemoryMib === null ? {} : { cacheMemoryMiB: cacheMemoryMib }),
      onPull({ file, doneBytes, totalBytes }) {
        progress.report(file, doneBytes, totalBytes);
        if (doneBytes === totalBytes) progress.clear();
      },
    });
  },
  async tinker({ tinkerBaseUrl: baseUrl, tinker }) {
    const { createTinkerBackend } = await import("../../backends/tinker/index.ts");
    const { tokenizer, contextLength, checkpointTtlS: checkpointTtlSeconds } = tinker;
    return createTinkerBackend({
      checkpointTtlSeconds,
      onWarning: (notice) => void process.stderr.write(`${notice}\n`),
      ...(baseUrl === null ? {} : { baseUrl }),
      ...(tokenizer === null ? {} : { tokenizer }),
      ...(contextLength === null ? {} : { contextLength }),
    });
  },
  async verl(config) {
    const { createVerlBackend } = await import("../../backends/verl/index.ts");
    const { verlOptionsOf } = await import("./verl-options.ts");
    return createVerlBackend(verlOptionsOf(config, process.env));
  },
};

/** Names that {@link loadBackend} knows. */
export const backendNames: readonly string[] = Object.keys(loaders);

async function importMaker(spec: string, folder: string): Promise<MakeBackend> {
  const defaults = ["createBackend", "default"];
  const make = await loadExport({ spec, folder, option: "backend", defaults });
  if (typeof make === "function") return make as MakeBackend;
  throw new ConfigError({
    message: `backend=${spec} must name a function that creates a TrainingBackend; got ${typeof make}.`,
    fields: { spec },
  });
}

function unknownName(name: string): ConfigError {
  const nearest = nearestName(name, backendNames);
  return new ConfigError({
    message: `There is no backend ${JSON.stringify(name)}. Allowed: ${backendNames.join(", ")}, or path#export of a function that creates one.`,
    ...(nearest === undefined ? {} : { hint: `Did you mean backend=${nearest}?` }),
    fields: { name, known: backendNames },
  });
}

/**
 * Creates the backend that `config.backend` names, or calls the function `path#export` with the
 * configuration.
 * @throws ConfigError for an unknown name; ENGINE_NOT_INSTALLED when its packages are missing.
 */
export async function loadBackend(config: TrainConfig, folder: string): Promise<TrainingBackend> {
  const name = config.backend;
  const known = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  if (known === undefined && !/[./#\\]/u.test(name)) throw unknownName(name);
  try {
    return await (known ?? (await importMaker(name, folder)))(config);
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
}
