/** Brings a model from a hub into the cache: the files that the engine reads, and no others. */
import { join } from "node:path";
import { defined } from "../../util/defined.ts";
import { findCached, HubCache } from "./hub-cache.ts";
import { HubError } from "./hub-error.ts";
import { defaultConnection, type HubConnection } from "./hub-request.ts";
import { readHubSettings, type HubSettings } from "./hub-settings.ts";
import type { ModelId } from "./model-id.ts";
import { pullFiles, type PullProgress } from "./pull-files.ts";
import { readRemoteModel, type RemoteModel } from "./remote-files.ts";

export interface PullOptions {
  /** @default from the environment */
  readonly settings?: HubSettings;
  readonly connection?: Partial<Pick<HubConnection, "silenceMs" | "retryMs" | "maxTries">>;
  /** `tokenizer`: only what turns text into tokens. @default "model" */
  readonly parts?: "model" | "tokenizer";
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PullProgress) => void;
  /** Called before a failed request is tried again, with a sentence. */
  readonly onRetry?: (message: string) => void;
}

export interface PulledModel {
  /** A model folder, or the GGUF file that was requested. */
  readonly path: string;
  readonly commit: string;
  readonly bytes: number;
}

const assets =
  /^(?:config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json$|^(?:chat_template\.jinja|merges\.txt|tokenizer\.model)$/u;
const tokenizerFiles =
  /^(?:tokenizer|tokenizer_config|generation_config)\.json$|^chat_template\.jinja$/u;
const weights = /^model(?:-\d{5}-of-\d{5})?\.safetensors$|^model\.safetensors\.index\.json$/u;

/** @throws HubError */
export async function pullModel(id: ModelId, options: PullOptions = {}): Promise<PulledModel> {
  const settings = options.settings ?? readHubSettings();
  const hub: HubConnection = {
    ...defaultConnection,
    ...options.connection,
    ...settings,
    ...defined({ onRetry: options.onRetry }),
  };
  const signal = options.signal ?? new AbortController().signal;
  const cache = new HubCache(hub.cacheFolder, id.repository);
  if (hub.offline) {
    const path = findCached(hub.cacheFolder, id);
    const commit = cache.commitOf(id.revision);
    if (path !== null && commit !== null) return { path, commit, bytes: 0 };
    throw notCached(id, hub.cacheFolder);
  }
  const remote = await readRemoteModel(hub, id, signal);
  const names =
    options.parts === "tokenizer"
      ? remote.files.filter((file) => tokenizerFiles.test(file))
      : chooseFiles(id, remote);
  const { bytes } = await pullFiles({ hub, id, commit: remote.commit, names, signal }, options);
  // Last, so that a reader finds every file.
  await cache.writeRef(id.revision, remote.commit);
  const folder = cache.snapshot(remote.commit);
  const path = id.file === null ? folder : join(folder, id.file);
  return { path, commit: remote.commit, bytes };
}

/** The cached model, or else the pulled one. @throws HubError */
export async function resolveModel(id: ModelId, options: PullOptions = {}): Promise<string> {
  const settings = options.settings ?? readHubSettings();
  const cached = findCached(settings.cacheFolder, id);
  return cached ?? (await pullModel(id, { ...options, settings })).path;
}

/** A folder with the model's tokenizer and chat template, from the cache or the hub. @throws HubError */
export async function resolveTokenizer(id: ModelId, options: PullOptions = {}): Promise<string> {
  const settings = options.settings ?? readHubSettings();
  const cache = new HubCache(settings.cacheFolder, id.repository);
  const commit = cache.commitOf(id.revision);
  const isCached = (file: string): boolean => commit !== null && cache.has(commit, file);
  if (commit !== null && ["tokenizer.json", "tokenizer_config.json"].every(isCached))
    return cache.snapshot(commit);
  return (await pullModel(id, { ...options, settings, parts: "tokenizer" })).path;
}

function notCached(id: ModelId, cacheFolder: string): HubError {
  return new HubError({
    reason: "offline",
    message: `${id.repository}@${id.revision} is not in ${cacheFolder}, and HF_HUB_OFFLINE forbids fetching it.`,
    hint: "Unset HF_HUB_OFFLINE, or set HF_HOME to where the model is. A model may also be a folder, a .gguf file, or builtin:shop-tiny.",
    fields: { model: id.repository, cacheFolder },
  });
}

/** @throws HubError for a model whose files are of no use here. */
function chooseFiles(id: ModelId, { files }: RemoteModel): readonly string[] {
  const refuse = (message: string, hint: string): never => {
    throw new HubError({
      reason: "unsupported",
      message,
      hint,
      fields: { model: id.repository, files },
    });
  };
  const ggufs = files.filter((file) => /\.gguf$/iu.test(file));
  if (id.file !== null) {
    if (ggufs.includes(id.file)) return [id.file];
    return refuse(
      `${id.repository} has no file "${id.file}".`,
      `Its GGUF files: ${ggufs.join(", ") || "none"}.`,
    );
  }
  if (files.some((file) => weights.test(file)))
    return files.filter((file) => assets.test(file) || weights.test(file));
  if (ggufs.length > 0)
    return refuse(
      `${id.repository} has no safetensors, but ${ggufs.length} GGUF files.`,
      `Name one of them: ${ggufs.map((file) => `${id.repository}:${file}`).join(", ")}.`,
    );
  return refuse(
    `${id.repository} has neither safetensors nor GGUF files.`,
    "Files of Python objects (.bin, .pt) are not read: they can run code.",
  );
}
