/** Where the binaries are: native/build/ has those that a developer compiled, native/prebuilt/ those of the package. */
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folders = ["../../../native/build/", "../../../native/prebuilt/"];

/** The names are those of scripts/native/platforms.mjs. */
export function platformName(): string {
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

/** @returns null where there is none */
export function findBinary(path: string): string | null {
  const places = folders.map((folder) => fileURLToPath(new URL(folder + path, import.meta.url)));
  return places.find((place) => existsSync(place)) ?? null;
}
