/**
 * Hugging Face's cache on disk, shared with its other tools: `models--OWNER--NAME/` with `blobs/` by
 * hash, `refs/` with the commit of a branch, and `snapshots/COMMIT/` of links into `blobs/`.
 */
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readdir, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { writeFileAtomic } from "../../util/files/atomic-write.ts";
import { checkFileName } from "./file-name.ts";
import type { ModelId, RepositoryType } from "./model-id.ts";

export class HubCache {
  readonly #root: string;

  constructor(cacheFolder: string, repository: string, type: RepositoryType = "model") {
    this.#root = join(cacheFolder, `${type}s--${repository.replaceAll("/", "--")}`);
  }

  blob(hash: string): string {
    return join(this.#root, "blobs", hash);
  }

  snapshot(commit: string): string {
    return join(this.#root, "snapshots", commit);
  }

  /** The commit that a revision stood for when it was last fetched. */
  commitOf(revision: string): string | null {
    if (/^[0-9a-f]{40}$/u.test(revision)) return revision;
    try {
      return readFileSync(join(this.#root, "refs", revision), "utf8").trim();
    } catch {
      return null;
    }
  }

  async writeRef(revision: string, commit: string): Promise<void> {
    if (revision === commit) return;
    await writeFileAtomic(join(this.#root, "refs", revision), commit);
  }

  /** The files of a commit that was listed before, whether they were fetched or not; else null. */
  filesOf(commit: string): readonly string[] | null {
    try {
      return JSON.parse(readFileSync(this.#listing(commit), "utf8")) as string[];
    } catch {
      return null;
    }
  }

  async writeFiles(commit: string, files: readonly string[]): Promise<void> {
    await writeFileAtomic(this.#listing(commit), JSON.stringify(files));
  }

  /** Hugging Face's tools leave folders that they do not know alone. */
  #listing(commit: string): string {
    return join(this.#root, "agent-trainer", `${commit}.json`);
  }

  /** Where a file of a commit is, if it was fetched. @throws HubError for a name that leads elsewhere. */
  pathOf(commit: string, file: string): string {
    return join(this.snapshot(commit), checkFileName(file));
  }

  has(commit: string, file: string): boolean {
    return existsSync(this.pathOf(commit, file));
  }

  /** Makes a blob visible under its name in a snapshot. */
  async link(commit: string, file: string, hash: string): Promise<void> {
    const pointer = this.pathOf(commit, file);
    if (existsSync(pointer)) return;
    await mkdir(dirname(pointer), { recursive: true });
    try {
      await symlink(relative(dirname(pointer), this.blob(hash)), pointer);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process was quicker, or the system reserves links for administrators.
      if (code === "EPERM") await copyFile(this.blob(hash), pointer);
      else if (code !== "EEXIST") throw error;
    }
  }
}

/** Whether every file of a snapshot that the model needs is there. */
function isComplete(cache: HubCache, commit: string): boolean {
  if (!["config.json", "tokenizer.json"].every((file) => cache.has(commit, file))) return false;
  const index = "model.safetensors.index.json";
  if (!cache.has(commit, index)) return cache.has(commit, "model.safetensors");
  try {
    const text = readFileSync(join(cache.snapshot(commit), index), "utf8");
    const { weight_map: map } = JSON.parse(text) as { weight_map: Record<string, string> };
    return Object.values(map).every((shard) => cache.has(commit, shard));
  } catch {
    return false;
  }
}

/** The folder or file of a model that was pulled before; null when it is not, or not wholly, there. */
export function findCached(cacheFolder: string, id: ModelId): string | null {
  const cache = new HubCache(cacheFolder, id.repository);
  const commit = cache.commitOf(id.revision);
  if (commit === null) return null;
  if (id.file !== null) return cache.has(commit, id.file) ? cache.pathOf(commit, id.file) : null;
  return isComplete(cache, commit) ? cache.snapshot(commit) : null;
}

/** The models of which there is anything in a cache, sorted. */
export async function listCached(cacheFolder: string): Promise<readonly string[]> {
  const names = await readdir(cacheFolder).catch(() => []);
  return names
    .filter((name) => name.startsWith("models--"))
    .map((name) => name.slice("models--".length).replaceAll("--", "/"))
    .toSorted();
}
