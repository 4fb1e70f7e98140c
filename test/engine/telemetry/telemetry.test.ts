/** The runtime writes nothing into the user's folders. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const child = fileURLToPath(new URL("child.ts", import.meta.url));
const names = ["home", "cache", "config", "data", "state", "tmp"] as const;

/** Files that are there after the engine has run in a home of its own. */
async function filesAfter(place: string, setting?: string): Promise<readonly string[]> {
  const root = await mkdtemp(join(tmpdir(), "telemetry-"));
  const folder = Object.fromEntries(names.map((name) => [name, join(root, name)])) as Record<
    (typeof names)[number],
    string
  >;
  for (const path of Object.values(folder)) await mkdir(path);
  await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", "--conditions=agent-trainer-source", child, place],
    {
      // Nothing else of this environment: the runtime is silent in tests of its own and where CI is set.
      env: {
        PATH: process.env["PATH"],
        HOME: folder.home,
        XDG_CACHE_HOME: folder.cache,
        XDG_CONFIG_HOME: folder.config,
        XDG_DATA_HOME: folder.data,
        XDG_STATE_HOME: folder.state,
        TMPDIR: folder.tmp,
        TSX_DISABLE_CACHE: "1",
        ...(setting === undefined ? {} : { ORT_DISABLE_TELEMETRY: setting }),
      },
    },
  );
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !path.startsWith(join("tmp", "tsx-")) && !/node-compile-cache/.test(path));
}

describe("telemetry of the runtime", () => {
  it.each(["main", "thread"])(
    "is off (%s)",
    async (place) => {
      expect(await filesAfter(place)).toEqual([]);
    },
    120_000,
  );

  it.runIf(process.platform === "linux" && process.arch === "x64")(
    "would leave a device id where the user wants it",
    async () => {
      expect(await filesAfter("thread", "0")).toContain(
        join("cache", "Microsoft", "DeveloperTools", ".onnxruntime", "deviceid"),
      );
    },
    120_000,
  );
});
