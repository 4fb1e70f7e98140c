/** Brings files of one commit into the cache, and links them under their names. */
import { mapConcurrent } from "../../util/concurrency.ts";
import { fetchBlob } from "./fetch-blob.ts";
import { HubCache } from "./hub-cache.ts";
import type { HubConnection } from "./hub-request.ts";
import type { ModelId } from "./model-id.ts";
import { readRemoteFile } from "./remote-files.ts";

/** Progress of a download from a hub. */
export interface PullProgress {
  /** The file that just moved on. */
  readonly file: string;
  /** Bytes downloaded so far. */
  readonly doneBytes: number;
  /** Bytes to download. */
  readonly totalBytes: number;
}

export interface FilesToPull {
  readonly hub: HubConnection;
  readonly id: ModelId;
  readonly commit: string;
  readonly names: readonly string[];
  readonly signal: AbortSignal;
}

/** Files at a time; more do not make a line quicker. */
const parallelFiles = 4;

/** @throws HubError */
export async function pullFiles(
  { hub, id, commit, names, signal }: FilesToPull,
  { onProgress }: { readonly onProgress?: (progress: PullProgress) => void },
): Promise<{ readonly bytes: number }> {
  const cache = new HubCache(hub.cacheFolder, id.repository, id.type);
  const files = await mapConcurrent(
    names,
    parallelFiles,
    (name, _, halt) => readRemoteFile(hub, id, commit, name, halt),
    signal,
  );
  // Files of the same content are one blob.
  const blobs = [...new Map(files.map((file) => [file.hash, file])).values()];
  const totalBytes = blobs.reduce((sum, { size }) => sum + size, 0);
  let doneBytes = 0;
  await mapConcurrent(
    blobs,
    parallelFiles,
    async (file, _, halt) => {
      let own = 0;
      const onBytes = (count: number): void => {
        doneBytes += count - own;
        own = count;
        onProgress?.({ file: file.name, doneBytes, totalBytes });
      };
      await fetchBlob({ hub, id, file, blob: cache.blob(file.hash), signal: halt, onBytes });
    },
    signal,
  );
  for (const { name, hash } of files) await cache.link(commit, name, hash);
  return { bytes: totalBytes };
}
