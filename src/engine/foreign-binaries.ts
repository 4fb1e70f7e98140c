/** What onnxruntime-node installs for other systems: npm has no way to leave it out. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { AgentTrainerError } from "../core/errors.ts";

/** Binaries of one system. */
export interface ForeignBinaries {
  /** Such as `win32/arm64`. */
  readonly system: string;
  readonly path: string;
  readonly bytes: number;
}

/** The folder of the onnxruntime-node that the engine loads. */
export function runtimeFolder(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve("onnxruntime-node/package.json"));
  } catch (cause) {
    throw new AgentTrainerError({
      code: "ENGINE_NOT_INSTALLED",
      message: "onnxruntime-node is not installed, so there is nothing to delete.",
      hint: "Run: npm install --ignore-scripts onnxruntime-node",
      cause,
    });
  }
}

const foldersIn = (path: string): readonly string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/**
 * Those in `bin/napi-v*` for other systems than `own`.
 *
 * @throws {@link AgentTrainerError} `ENGINE_NOT_INSTALLED` if there is nothing for `own`: then the folders
 * may mean something else than they do today, and none should be deleted.
 */
export function foreignBinaries(
  runtime: string,
  own: string = `${process.platform}/${process.arch}`,
): readonly ForeignBinaries[] {
  const bin = join(runtime, "bin");
  const found = (existsSync(bin) ? foldersIn(bin) : [])
    .filter((name) => name.startsWith("napi-v"))
    .flatMap((version) =>
      foldersIn(join(bin, version)).flatMap((platform) =>
        foldersIn(join(bin, version, platform)).map((arch) => ({
          system: `${platform}/${arch}`,
          path: join(bin, version, platform, arch),
        })),
      ),
    );
  if (!found.some(({ system }) => system === own)) {
    throw new AgentTrainerError({
      code: "ENGINE_NOT_INSTALLED",
      message: `${bin} has no binaries for this system (${own}), so nothing is deleted.`,
      hint: "Reinstall onnxruntime-node on this machine: npm install --ignore-scripts onnxruntime-node",
      fields: { folder: bin, system: own },
    });
  }
  return found
    .filter(({ system }) => system !== own)
    .map((binaries) => ({ ...binaries, bytes: bytesIn(binaries.path) }));
}

export function deleteBinaries(binaries: readonly ForeignBinaries[]): void {
  for (const { path } of binaries) rmSync(path, { recursive: true, force: true });
}
