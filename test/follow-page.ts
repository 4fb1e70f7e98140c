/** Runs the commands of a page of docs/ in an empty folder, with the built package in the place of an installed one. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { type CodeBlock, root } from "./docs/pages.ts";

export const isShell = ({ info }: CodeBlock): boolean => info[0] === "sh";
export const nameOf = ({ info }: CodeBlock): string | undefined => info[1];

/** Programs in `node_modules/.bin`, by the files that they are. */
export async function writePrograms(
  modules: string,
  programs: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(join(modules, ".bin"), { recursive: true });
  for (const [name, main] of Object.entries(programs)) {
    const shim = join(modules, ".bin", name);
    await writeFile(shim, `#!/bin/sh\nexec node "${join(modules, main)}" "$@"\n`);
    await chmod(shim, 0o755);
  }
}

/** Links packages: this one as it is built, others from this repository. */
export async function linkNamed(modules: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const from = name === "agent-trainer" ? root : join(root, "node_modules", name);
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(from, join(modules, name));
  }
}

/** `detached` makes a process group, so that the end of `npx` is the end of what it started. */
const startCommand = (command: string, cwd: string): ChildProcess =>
  spawn("sh", ["-ec", command], {
    cwd,
    detached: true,
    env: { ...process.env, NO_COLOR: "1", npm_config_offline: "true" },
  });

/** What it printed on both streams. @throws AssertionError when it fails */
export async function runCommandLine(command: string, cwd: string): Promise<string> {
  const child = startCommand(command, cwd);
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const [code] = (await once(child, "close")) as [number | null];
  expect(code, `${command}\n${output}`).toBe(0);
  return output;
}

/** Starts a command that serves, and waits until it does. */
export async function startServer(
  command: string,
  cwd: string,
  port: number,
): Promise<AsyncDisposable> {
  const server = startCommand(command, cwd);
  const dispose = async (): Promise<void> => {
    if (server.pid === undefined || server.exitCode !== null) return;
    const ended = once(server, "close");
    process.kill(-server.pid, "SIGINT");
    await ended;
  };
  for (let attempt = 0; attempt < 600; attempt++) {
    const isUp = await fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return { [Symbol.asyncDispose]: dispose };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await dispose();
  throw new Error("The server did not start.");
}

/** Numbers differ between machines, and a duration may have minutes; the words are the same. */
const shapeOf = (line: string): string =>
  line
    .replace(/\/\S*\/runs/u, "runs")
    .replace(/ {2}unused \d+/u, "")
    .replace(/ in (?:\d+m )?\d+s$/u, "")
    .replaceAll(/-?\d[\d.]*/gu, "0");

/** Lines of the text block after the command's that the command did not print. */
export function notPrinted(
  blocks: readonly CodeBlock[],
  name: string,
  printed: string,
): readonly string[] {
  const at = blocks.findIndex((block) => isShell(block) && nameOf(block) === name);
  const shown = blocks.slice(at).find(({ info }) => info[0] === "text")!;
  const lines = new Set(printed.split("\n").map(shapeOf));
  return shown.code
    .trim()
    .split("\n")
    .filter((line) => line !== "..." && !lines.has(shapeOf(line)));
}
