/** Follows a page of docs/: the folder that its commands run in, with this package built and linked. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { root } from "../docs/pages.ts";
import { temporaryFolder } from "./cli-process.ts";

export interface PageProject extends AsyncDisposable {
  readonly path: string;
  /** Links packages, `agent-trainer` and others of this repository, as an installation would. */
  install(names: readonly string[]): Promise<void>;
  /** Starts a block of commands as a process group, so that the end of `npx` is the end of what it started. */
  start(commands: string): ChildProcess;
  /** What the commands printed, when all of them ended with status 0. */
  shell(commands: string): Promise<string>;
}

const programs = { "agent-trainer": "agent-trainer/dist/cli/main.js", tsx: "tsx/dist/cli.mjs" };

export async function pageProject(): Promise<PageProject> {
  const folder = await temporaryFolder();
  const modules = join(folder.path, "node_modules");
  const start = (commands: string): ChildProcess =>
    spawn("sh", ["-ec", commands], {
      cwd: folder.path,
      detached: true,
      env: { ...process.env, NO_COLOR: "1", npm_config_offline: "true" },
    });
  return {
    path: folder.path,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    start,
    async install(names) {
      await mkdir(join(modules, ".bin"), { recursive: true });
      for (const name of names) {
        const from = name === "agent-trainer" ? root : join(root, "node_modules", name);
        await mkdir(dirname(join(modules, name)), { recursive: true });
        await symlink(from, join(modules, name));
      }
      for (const [name, main] of Object.entries(programs)) {
        const shim = join(modules, ".bin", name);
        await writeFile(shim, `#!/bin/sh\nexec node "${join(modules, main)}" "$@"\n`);
        await chmod(shim, 0o755);
      }
    },
    async shell(commands) {
      const child = start(commands);
      let output = "";
      for (const stream of [child.stdout!, child.stderr!]) {
        stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
      }
      const [code] = (await once(child, "close")) as [number | null];
      expect(code, `${commands}\n${output}`).toBe(0);
      return output;
    },
  };
}
