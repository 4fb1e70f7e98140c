/**
 * Opens anything a user may name as a model: whatever `model.name` accepts, a run's folder, a checkpoint, or a
 * LoRA adapter with its base.
 */
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { findModel } from "../../backends/local/find-model.ts";
import { defaultAdapter } from "../../core/adapter-names.ts";
import { CheckpointError, ModelError } from "../../core/errors.ts";
import {
  adaptersIn,
  isAdapterFolder,
  type LoraAdapter,
  mergeAdapter,
  readLoraAdapter,
} from "../../engine/checkpoint/lora-adapter.ts";
import { openModelSource } from "../../engine/checkpoint/open-model-source.ts";
import type { ModelSource } from "../../engine/checkpoint/model-source.ts";
import { parseModelId } from "../../models/hub/model-id.ts";
import type { PullOptions } from "../../models/hub/pull-model.ts";
import { newestCheckpoint } from "../../runs/checkpoint.ts";
import { namedCheckpoint } from "../../util/files/checkpoint-name.ts";

export interface OpenedModel {
  /** With the adapter merged, if there is one. */
  readonly source: ModelSource;
  /** The folder or file with the configuration and the tokenizer. */
  readonly basePath: string;
  /** Display name, also used as `general.name`. */
  readonly name: string;
  /** The adapter's folder; null if there is none. */
  readonly adapter: string | null;
  /** What was merged; null if there is no adapter. */
  readonly parts: ModelParts | null;
}

export interface ModelParts {
  /** As published, even where a rounded one was trained on. */
  readonly base: ModelSource;
  readonly adapter: LoraAdapter;
}

export interface OpenModelOptions extends PullOptions {
  /** Base model of an adapter. @default the one the adapter names */
  readonly base?: string;
  /** Which adapter of a run whose roles have several. @default it has one */
  readonly adapter?: string;
  /** Called when a damaged checkpoint is skipped. */
  readonly onWarning?: (text: string) => void;
}

/** @throws ModelError; CheckpointError; HubError */
export async function openModel(
  spec: string,
  options: OpenModelOptions = {},
): Promise<OpenedModel> {
  const path = namedCheckpoint(resolve(spec), (why) => new CheckpointError(why));
  if (existsSync(join(path, "config.resolved.yaml")))
    return openWeights(await newestWeights(path, options), options);
  if (existsSync(join(path, "state.json")) && existsSync(join(path, "weights")))
    return openWeights(join(path, "weights"), options);
  if (options.adapter !== undefined) throw noRun(spec, options.adapter);
  if (!existsSync(join(path, "config.json")) && isAdapterFolder(path))
    return openAdapter(path, options);
  const found = await findModel(spec, options);
  const source = await openModelSource(found.path);
  return { source, basePath: found.path, name: nameOf(found.name), adapter: null, parts: null };
}

/** Of a checkpoint. */
async function openWeights(
  weights: string,
  { adapter, ...options }: OpenModelOptions,
): Promise<OpenedModel> {
  const names = isAdapterFolder(weights) ? await adaptersIn(weights) : [];
  const known = names.length === 0 ? [] : [defaultAdapter, ...names];
  if (adapter === undefined && names.length === 0) return openModel(weights, options);
  if (adapter === undefined || !known.includes(adapter)) {
    const list = known.length === 0 ? "no adapters of roles" : `the adapters ${known.join(", ")}`;
    throw new ModelError({
      message: `The checkpoint ${weights} has ${list}${adapter === undefined ? "" : `, not "${adapter}"`}.`,
      hint: known.length === 0 ? "Leave out --adapter." : `Choose one: --adapter ${names[0]!}`,
      fields: { weights, adapter, known },
    });
  }
  return openModel(adapter === defaultAdapter ? weights : join(weights, adapter), options);
}

function noRun(spec: string, adapter: string): ModelError {
  return new ModelError({
    message: `"${spec}" is neither a run nor a checkpoint, so it has no adapter "${adapter}" of a role.`,
    hint: "Leave out --adapter, or name the run.",
    fields: { model: spec, adapter },
  });
}

function nameOf(name: string): string {
  return basename(name).replace(/\.gguf$/iu, "");
}

async function newestWeights(run: string, { onWarning }: OpenModelOptions): Promise<string> {
  const checkpoint = await newestCheckpoint(join(run, "checkpoints"), (error) =>
    onWarning?.(error.message),
  );
  if (checkpoint !== null) return checkpoint.weights;
  throw new CheckpointError({
    message: `The run ${run} has no checkpoint yet.`,
    hint: "Let the run reach a step that is saved; see trainer.save_freq.",
    fields: { run },
  });
}

async function openAdapter(folder: string, options: OpenModelOptions): Promise<OpenedModel> {
  const adapter = await readLoraAdapter(folder);
  const base = options.base ?? adapter.baseModel;
  if (base === null) {
    throw new ModelError({
      message: `The adapter ${folder} does not name its base model.`,
      hint: "Set the base model with --base.",
      fields: { folder },
    });
  }
  const relative = resolve(folder, base);
  const { baseRevision } = adapter;
  const isOwn = options.base === undefined && baseRevision !== null;
  const onHub = isOwn && parseModelId(base) !== null && !existsSync(resolve(base));
  const named = onHub && !base.includes("@") ? `${base}@${baseRevision}` : base;
  const found = await findModel(existsSync(relative) ? relative : named, options);
  const parts = { base: await openModelSource(found.path), adapter };
  const source = mergeAdapter(parts.base, adapter);
  return { source, basePath: found.path, name: nameOf(found.name), adapter: folder, parts };
}
