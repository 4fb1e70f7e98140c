/** The folders of one rollout: a home, a working folder and a place for temporary files, removed at its end. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { AgentTrainerError, ConfigError } from "../../../core/errors.ts";
import { isInside, readInside } from "../../../util/files/read-inside.ts";

/** Where a rollout's process lives. */
export interface RolloutFolders {
  /** Its home, empty apart from `homeFiles`. */
  readonly home: string;
  /** Its working folder. */
  readonly work: string;
}

/** The folders, until disposed. */
export interface OwnFolders extends RolloutFolders, AsyncDisposable {
  readonly root: string;
  readonly temp: string;
}

/** Text of files by their path. */
export type Files = Readonly<Record<string, string>>;

/** @param keep leaves them where they are. */
export async function makeFolders(keep: boolean): Promise<OwnFolders> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "agent-trainer-rollout-")));
  const [home, work, temp] = ["home", "work", "tmp"].map((name) => join(root, name));
  const folders = { root, home: home!, work: work!, temp: temp! };
  await Promise.all([folders.home, folders.work, folders.temp].map((path) => mkdir(path)));
  return {
    ...folders,
    [Symbol.asyncDispose]: async () => {
      // What the agent made unreadable stays; that must not fail its rollout.
      if (!keep) await rm(root, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
    },
  };
}

function placeIn(folder: string, path: string): string {
  const file = resolve(folder, path);
  if (isInside(folder, file)) return file;
  throw new ConfigError({
    message: `The file ${path} would be outside of its rollout's folder.`,
    hint: "Give paths relative to the folder.",
    fields: { path },
  });
}

/** @throws ConfigError for a path that leads out of the folder. */
export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = placeIn(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/**
 * Those of the paths that are regular files, as text. The agent wrote the folder: links are not followed, so
 * that a container does not read files of this machine, and pipes and devices are not opened.
 * @throws AgentTrainerError (`AGENT_FAILED`) when they are larger than `maxBytes` together.
 */
export async function readFiles(
  folder: string,
  paths: readonly string[],
  maxBytes: number,
): Promise<Files> {
  const found: Record<string, string> = {};
  let bytes = 0;
  for (const path of paths) {
    placeIn(folder, path);
    const text = await readInside(folder, path, maxBytes - bytes);
    if (text === "missing") continue;
    if (text === "too large") {
      throw new AgentTrainerError({
        code: "AGENT_FAILED",
        message: `The agent's files are larger than ${maxBytes} bytes at ${path}.`,
        hint: "Raise maxOutputBytes, or read fewer files.",
        fields: { path, maxBytes },
      });
    }
    bytes += text.length;
    found[path] = text.toString();
  }
  return found;
}
