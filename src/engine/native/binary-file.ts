/** Where the binaries are: native/build/ has those that a developer compiled, native/prebuilt/ those of the package. */
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Native } from "./native.ts";

const folders = [
  ["../../../native/build/", true],
  ["../../../native/prebuilt/", false],
] as const;

/** The names are those of scripts/native/platforms.mjs. */
function platformName(): string {
  const { platform, arch } = process;
  if (platform !== "linux") return `${platform}-${arch}`;
  return `linux-${arch}-${startsWithMusl(process.execPath) ? "musl" : "gnu"}`;
}

/** Whether a program's dynamic linker, named near its start, is that of musl. */
function startsWithMusl(program: string): boolean {
  const start = Buffer.alloc(4096);
  const file = openSync(program, "r");
  try {
    readSync(file, start);
  } finally {
    closeSync(file);
  }
  return start.includes("/ld-musl-");
}

export interface BinaryFile {
  /** Of what it was compiled for: a platform, or wasm. */
  readonly name: string;
  readonly path: string;
  readonly isBuiltHere: boolean;
}

export function binaryName(kind: Native["kind"]): string {
  return kind === "wasm" ? kind : platformName();
}

/** @returns null where there is none */
export function findBinary(kind: Native["kind"]): BinaryFile | null {
  const name = binaryName(kind);
  const file = `${name}/agent-trainer.${kind === "wasm" ? "wasm" : "node"}`;
  for (const [folder, isBuiltHere] of folders) {
    const path = fileURLToPath(new URL(folder + file, import.meta.url));
    if (existsSync(path)) return { name, path, isBuiltHere };
  }
  return null;
}
