/** What `model` of an evaluation refers to. Reads checkpoints and asks endpoints for their model; loads nothing. */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { HttpWorker, InferenceTarget } from "../../core/backend.ts";
import { AgentTrainerError, CheckpointError, ConfigError } from "../../core/errors.ts";
import type { WorkerFacts } from "../../gateway/targets/workers/pool/worker.ts";
import { probeWorker } from "../../gateway/targets/workers/pool/worker-probe.ts";
import { UpstreamError } from "../../gateway/targets/workers/upstream-error.ts";
import { type Checkpoint, listCheckpoints, readCheckpoint } from "../../runs/checkpoint.ts";
import { readHandedOver } from "../../runs/rounds/handed-over.ts";
import { namedCheckpoint } from "../../util/files/checkpoint-name.ts";
import { defined } from "../../util/defined.ts";
import { redact } from "../../util/redact.ts";
import { findKept, namesStep } from "./open-checkpoint.ts";
import type { EvaluationRunOptions, ModelEndpoint } from "./evaluation-options.ts";

type Given = EvaluationRunOptions<never>["model"];

/** Where the evaluated model is, and how to name it in records. */
export type LocatedModel =
  | { readonly kind: "config" }
  | { readonly kind: "name"; readonly name: string }
  | {
      readonly kind: "target";
      readonly target: InferenceTarget;
      readonly name: string;
      readonly label: string;
    }
  | {
      readonly kind: "checkpoint";
      readonly checkpoint: Checkpoint;
      /** The configuration of its run. */
      readonly config: TrainConfig;
      readonly label: string;
    };

const configFile = "config.resolved.yaml";

const endpointUrl = /^https?:\/\//iu;

/** @throws UpstreamError, which says what to do. */
async function reach(worker: HttpWorker): Promise<WorkerFacts> {
  try {
    return await probeWorker(worker);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw new AgentTrainerError({
      code: error.code,
      message: `The endpoint ${redact(worker.url)} cannot be used: ${error.message}`,
      hint: "Check that it is running and that the URL is right, up to and including /v1.",
      cause: error,
      fields: { url: redact(worker.url) },
    });
  }
}

/** @throws AgentTrainerError when it has to be asked for its model and does not respond. */
async function locateEndpoint(endpoint: ModelEndpoint): Promise<LocatedModel> {
  const { url, kind, apiKey } = endpoint;
  const worker = { url, ...defined({ kind, apiKey }) };
  const name = endpoint.name ?? (await reach(worker)).model;
  if (name === "") {
    throw new ConfigError({
      message: `The endpoint ${redact(url)} does not list its models.`,
      hint: "Name the model: --model-name NAME, or in code model: { url, name }. Where it needs a key, see --key-env.",
      fields: { option: "model" },
    });
  }
  // Errors name what the user gave.
  const id = redact(url);
  const target: InferenceTarget = { kind: "http", workers: [{ ...worker, id, modelName: name }] };
  return { kind: "target", target, name, label: `${name} at ${redact(url)}` };
}

async function locateCheckpoint(run: string, step: number): Promise<LocatedModel> {
  const root = join(run, "checkpoints");
  const checkpoint = await readCheckpoint(root, step);
  const { config } = loadConfig({ file: join(run, configFile) });
  return { kind: "checkpoint", checkpoint, config, label: checkpoint.path };
}

/** A run, a checkpoint inside of one, its weights, or a folder of rounds; null for any other path. */
async function locatePath(given: string): Promise<LocatedModel | null> {
  const path = namedCheckpoint(given, (why) => new CheckpointError(why));
  const handedOver = readHandedOver(path);
  if (handedOver !== null) return locatePath(handedOver.model);
  if (existsSync(join(path, configFile))) {
    const [newest] = await listCheckpoints(join(path, "checkpoints"));
    if (newest !== undefined) return locateCheckpoint(path, newest);
    throw new CheckpointError({
      message: `The run ${path} has no checkpoint yet, so it has no model.`,
      hint: "Let it finish a step that is saved; see trainer.save_freq.",
      fields: { path },
    });
  }
  const folder = basename(path) === "weights" ? dirname(path) : path;
  const run = dirname(dirname(folder));
  const isCheckpoint =
    /^\d{6,}$/u.test(basename(folder)) &&
    basename(dirname(folder)) === "checkpoints" &&
    existsSync(join(folder, "state.json")) &&
    existsSync(join(run, configFile));
  return isCheckpoint ? locateCheckpoint(run, Number(basename(folder))) : null;
}

/** @throws ConfigError for something else, CheckpointError for a checkpoint that cannot be used. */
export async function locateModel(model: Given): Promise<LocatedModel> {
  if (model === undefined || model === null) return { kind: "config" };
  if (typeof model === "string") {
    if (endpointUrl.test(model)) return locateEndpoint({ url: model });
    const path = resolve(model);
    const found = namesStep(path) ? await locatePath(path) : await findKept(() => locatePath(path));
    return found ?? { kind: "name", name: model };
  }
  if ("url" in model && typeof model.url === "string") return locateEndpoint(model);
  if ("sampler" in model || "workers" in model) {
    const label = "sampler" in model ? "a model in this process" : "inference servers";
    return { kind: "target", target: model, name: "model", label };
  }
  throw new ConfigError({
    message: "model is neither a name, a path or a URL, nor an object with a url.",
    hint: 'Pass "runs/shop", "https://host/v1", or { url, name, apiKey }.',
    fields: { option: "model" },
  });
}
