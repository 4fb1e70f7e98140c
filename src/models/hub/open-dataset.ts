/** A dataset's repository at one commit: its files by name, fetched into the cache when they are asked for. */
import { HubCache } from "./hub-cache.ts";
import { HubError } from "./hub-error.ts";
import { defaultConnection, type HubConnection } from "./hub-request.ts";
import { readHubSettings, type HubSettings } from "./hub-settings.ts";
import type { ModelId } from "./model-id.ts";
import { pullFiles, type PullProgress } from "./pull-files.ts";
import { readRemoteModel } from "./remote-files.ts";

export interface OpenDatasetOptions {
  /** @default from the environment */
  readonly settings?: HubSettings;
  readonly connection?: Partial<Pick<HubConnection, "silenceMs" | "retryMs" | "maxTries">>;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: PullProgress) => void;
}

export interface HubRepository {
  readonly commit: string;
  readonly files: readonly string[];
  /** Paths of files of it, in the same order; what is in the cache is not fetched again. */
  fetch(names: readonly string[]): Promise<readonly string[]>;
}

/** @throws HubError */
export async function openDataset(
  repository: string,
  revision: string,
  options: OpenDatasetOptions,
): Promise<HubRepository> {
  const settings = options.settings ?? readHubSettings();
  const hub: HubConnection = { ...defaultConnection, ...options.connection, ...settings };
  const id: ModelId = { repository, revision, file: null, type: "dataset" };
  const cache = new HubCache(hub.cacheFolder, repository, "dataset");
  const { commit, files } = hub.offline
    ? fromCache(cache, id, hub)
    : await readRemoteModel(hub, id, options.signal);
  if (!hub.offline) {
    await cache.writeFiles(commit, files);
    await cache.writeRef(revision, commit);
  }
  return {
    commit,
    files,
    async fetch(names) {
      const missing = names.filter((name) => !cache.has(commit, name));
      if (missing.length > 0 && hub.offline) throw notCached(id, hub, missing[0]);
      if (missing.length > 0) {
        await pullFiles({ hub, id, commit, names: missing, signal: options.signal }, options);
      }
      return names.map((name) => cache.pathOf(commit, name));
    },
  };
}

function fromCache(
  cache: HubCache,
  id: ModelId,
  hub: HubConnection,
): Pick<HubRepository, "commit" | "files"> {
  const commit = cache.commitOf(id.revision);
  const files = commit === null ? null : cache.filesOf(commit);
  if (commit === null || files === null) throw notCached(id, hub);
  return { commit, files };
}

function notCached(
  { repository, revision }: ModelId,
  { cacheFolder }: HubConnection,
  file?: string,
): HubError {
  const what = file === undefined ? "The dataset" : `The file ${file} of the dataset`;
  return new HubError({
    reason: "offline",
    message: `${what} ${repository}@${revision} is not in ${cacheFolder}, and HF_HUB_OFFLINE forbids fetching it.`,
    hint: "Unset HF_HUB_OFFLINE and load it once, or set HF_HOME to where it is.",
    fields: { dataset: repository, cacheFolder },
  });
}
