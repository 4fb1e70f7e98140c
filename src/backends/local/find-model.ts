/** Locates a model: built into the package, a folder, a run, a GGUF file, or a hub and its cache. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readdir } from "node:fs/promises";
import { ModelError } from "../../core/errors.ts";
import { isGgufPath } from "../../engine/checkpoint/gguf/gguf-file.ts";
import {
  adaptersIn,
  isAdapterFolder,
  mergeAdapter,
  readLoraAdapter,
} from "../../engine/checkpoint/lora-adapter.ts";
import { parseModelId } from "../../models/hub/model-id.ts";
import { resolveModel, type PullOptions } from "../../models/hub/pull-model.ts";
import { reopen } from "../../util/files/reopen.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { builtinName, isBuiltinName, modelNotFound } from "./model-name.ts";
import { namedCheckpoint } from "../../util/files/checkpoint-name.ts";
import { exportFolder } from "../../engine/checkpoint/export-folder.ts";
import { openModelSource } from "../../engine/checkpoint/open-model-source.ts";
import { modelAssets } from "./load-model.ts";

const builtinRoot = new URL("../../../models/", import.meta.url);

export interface FoundModel {
  /** A model folder or a `.gguf` file. */
  readonly path: string;
  /** The public name of the model: a hub id, or the path. */
  readonly name: string;
}

/**
 * Files on disk take precedence; a run resolves to its newest checkpoint, with an adapter merged into its
 * base; `OWNER/NAME` is taken from the hub's cache, or downloaded.
 * @throws ModelError when there is no such model; HubError when the download fails.
 */
export async function findModel(name: string, pull: PullOptions = {}): Promise<FoundModel> {
  if (isBuiltinName(name))
    return { path: fileURLToPath(new URL(`${builtinName(name)}/`, builtinRoot)), name };
  const path = resolve(name);
  if (isGgufPath(path) ? existsSync(path) : existsSync(join(path, "config.json")))
    return { path, name: path };
  let weights: string | null = null;
  const ofRun = await reopen(
    async () => {
      weights = await findRunWeights(path);
      return weights === null ? null : findWeights(weights, pull);
    },
    () => weights !== null && !existsSync(weights),
  );
  if (ofRun !== null) return ofRun;
  if (!existsSync(path)) refuseMissingRun(name, path);
  const id = existsSync(path) ? null : parseModelId(name);
  if (id !== null) return { path: await resolveModel(id, pull), name };
  throw isAdapterFolder(path) ? adapterGiven(name, path) : modelNotFound(name, path);
}

/** A checkpoint's weights as a model: an adapter is merged into its base. */
async function findWeights(weights: string, pull: PullOptions): Promise<FoundModel> {
  if (isAdapterFolder(weights)) {
    const adapters = await adaptersIn(weights);
    if (adapters.length > 0) throw severalAdapters(weights, adapters);
    const merged = await mergedCheckpoint(
      weights,
      async (base) => (await findModel(base, pull)).path,
    );
    if (merged !== null) return { path: merged, name: merged };
  }
  return findModel(weights, pull);
}

/** `runs/NAME` has the form of OWNER/NAME, and is never meant as one. */
function refuseMissingRun(name: string, path: string): void {
  const folder = dirname(path);
  const runs = existsSync(folder)
    ? readdirSync(folder).filter((each) => existsSync(join(folder, each, "config.resolved.yaml")))
    : [];
  if (runs.length === 0 && !/^(?:\.[/\\])?runs[/\\]/u.test(name)) return;
  const nearest = nearestName(basename(path), runs);
  throw new ModelError({
    message: `There is no run or model "${name}": ${path} does not exist.`,
    hint:
      nearest === undefined
        ? runs.length > 0
          ? "Name the folder of a run; agent-trainer runs list shows those of a folder."
          : `There is no run in ${folder} yet: agent-trainer train CONFIG.yaml makes one, or sft, and trainer.experiment_name names it.`
        : `Did you mean ${join(dirname(name), nearest)}? agent-trainer runs list shows all.`,
    fields: { name, path },
  });
}

function severalAdapters(weights: string, adapters: readonly string[]): ModelError {
  return new ModelError({
    message: `The checkpoint ${weights} has adapters of several roles (default, ${adapters.join(", ")}), so it is not one model.`,
    hint: `Merge one of them into the base: agent-trainer model merge ${join(weights, adapters[0]!)} --into OUT. That of the roles without one is ${weights} itself.`,
    fields: { weights, adapters },
  });
}

function adapterGiven(name: string, path: string): ModelError {
  return new ModelError({
    message: `"${name}" is a LoRA adapter, not a whole model.`,
    hint: `Merge it into its base first: agent-trainer model merge ${name} --into OUT`,
    fields: { name, path },
  });
}

const isCheckpoint = (path: string): boolean =>
  existsSync(join(path, "state.json")) && existsSync(join(path, "weights"));

/**
 * Weights of the run's newest checkpoint, or of the one that is named; null if the folder is neither a run's
 * nor a checkpoint.
 * @throws ModelError when the run has no checkpoint yet.
 */
async function findRunWeights(given: string): Promise<string | null> {
  const path = namedCheckpoint(given, (why) => new ModelError(why));
  if (isCheckpoint(path)) return join(path, "weights");
  if (!existsSync(join(path, "config.resolved.yaml"))) return null;
  const root = join(path, "checkpoints");
  let listed: readonly string[] = [];
  return reopen(
    async () => {
      const names = await readdir(root).catch(() => []);
      listed = names
        .filter((name) => /^\d{6,}$/u.test(name))
        .sort((a, b) => Number(b) - Number(a))
        .map((name) => join(root, name));
      const newest = listed.find(isCheckpoint);
      if (newest !== undefined) return join(newest, "weights");
      throw new ModelError({
        message: `The run ${path} has no checkpoint yet, so it has no model.`,
        hint: "Let it finish a step that is saved; see trainer.save_freq.",
        fields: { path },
      });
    },
    // Deleted since it was listed, after a newer one was saved.
    () => listed.some((folder) => !existsSync(folder)),
  );
}

/**
 * A checkpoint that is a LoRA adapter as a model to start from: the base with the adapter merged, written once
 * next to the checkpoint's weights.
 * @param findBase locates the base that the adapter names.
 * @returns the folder of the merged model; null where the adapter does not name its base.
 * @throws ModelError when the two do not fit.
 */
async function mergedCheckpoint(
  weights: string,
  findBase: (name: string) => Promise<string>,
): Promise<string | null> {
  const merged = join(dirname(weights), "merged");
  if (existsSync(join(merged, "config.json"))) return merged;
  const adapter = await readLoraAdapter(weights);
  if (adapter.baseModel === null) return null;
  const relative = resolve(weights, adapter.baseModel);
  const base = await findBase(existsSync(relative) ? relative : adapter.baseModel);
  const source = mergeAdapter(await openModelSource(base), adapter);
  await exportFolder(source, merged, { format: "f32", assets: await modelAssets(base) });
  return merged;
}
