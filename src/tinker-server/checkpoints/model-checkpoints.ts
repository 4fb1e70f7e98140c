/** Checkpoints of loaded models: written, loaded again, and read for samplers. */
import { RequestError } from "../request-error.ts";
import { baseWeights, type AdapterWeights } from "../model/adapter.ts";
import type { LoadedModel } from "../model-table.ts";
import { encryptFiles, loadAdapter, readWeights, saveAdapter } from "./adapter-files.ts";
import {
  checkName,
  formatPath,
  parsePath,
  type CheckpointKind,
  type CheckpointPath,
} from "./checkpoint-path.ts";
import type { Checkpoint, CheckpointStore } from "./checkpoint-store.ts";

export interface SaveOptions {
  readonly name: string;
  readonly kind: CheckpointKind;
  readonly ttlSeconds: number | null;
  readonly overwrite: boolean;
  /** Public keys that its files are encrypted to. @default none: they are written as they are */
  readonly recipients?: readonly Uint8Array[];
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
}

export class ModelCheckpoints {
  readonly #store: CheckpointStore;
  readonly #modelName: string;

  /** @param modelName of the base model, which checkpoints of others do not fit. */
  constructor(store: CheckpointStore, modelName: string) {
    this.#store = store;
    this.#modelName = modelName;
  }

  /** @throws RequestError 400 when the base is another one. */
  checkBase(name: string): void {
    if (name === this.#modelName) return;
    throw new RequestError(400, `This server has "${this.#modelName}", not "${name}".`);
  }

  /** @returns its path. */
  async save(model: LoadedModel, options: SaveOptions): Promise<string> {
    const { name, kind, ttlSeconds, overwrite, userMetadata, recipients = [] } = options;
    const path = { runId: model.id, kind, name: checkName(name) };
    const { spec } = model.adapter;
    const expiresAt =
      ttlSeconds === null ? null : new Date(Date.now() + ttlSeconds * 1000).toISOString();
    const entry = { ...path, expiresAt, baseModel: this.#modelName, spec, userMetadata };
    await this.#store.save(entry, overwrite, async (folder) => {
      await saveAdapter(model.adapter, this.#modelName, kind === "weights", folder);
      if (recipients.length > 0) await encryptFiles(folder, recipients);
    });
    return formatPath(path);
  }

  async load(model: LoadedModel, path: string, withOptimizer: boolean): Promise<void> {
    const parsed = parsePath(path);
    const checkpoint = await this.#findLoadable(parsed);
    await loadAdapter(model.adapter, checkpoint, this.#store.folderOf(parsed), withOptimizer);
  }

  /** Of a checkpoint, or with null of the base model. */
  async weightsOf(path: string | null): Promise<AdapterWeights> {
    if (path === null) return baseWeights;
    const parsed = parsePath(path);
    const checkpoint = await this.#findLoadable(parsed);
    return readWeights(checkpoint, this.#store.folderOf(parsed));
  }

  /** @throws RequestError 404, 400 */
  async #findLoadable(path: CheckpointPath): Promise<Checkpoint> {
    const checkpoint = await this.#store.find(path);
    this.checkBase(checkpoint.baseModel);
    if (path.kind !== "external_weights") return checkpoint;
    throw new RequestError(
      400,
      `${formatPath(path)} is for download. Load what save_weights or save_weights_for_sampler made.`,
    );
  }
}
