/** The environment that `npm run bench:setup:torch` makes: what is in it, and programs that run in it. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { forcedSet } from "../harness/kernel-goals.ts";
import { LineProcess } from "../harness/line-process.ts";

const environment = fileURLToPath(new URL("../../.cache/bench-torch/", import.meta.url));
const python = join(
  environment,
  process.platform === "win32" ? "Scripts/python.exe" : "bin/python",
);
/** Written at the end of the installation. */
const installed = join(environment, "installed.txt");

/** `npm run bench:setup:torch` has been run. */
export function hasTorch(): boolean {
  return existsSync(installed);
}

/** Name to version; empty when they are not installed, and nothing is compared. */
export async function torchVersions(): Promise<Readonly<Record<string, string>>> {
  if (!hasTorch()) return {};
  const lines = (await readFile(installed, "utf8")).trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("==") as [string, string]));
}

/** Where our kernels are forced to AVX2, PyTorch, oneDNN and MKL are as well. */
const instructions: Readonly<Record<string, string>> =
  forcedSet === "avx2"
    ? {
        ATEN_CPU_CAPABILITY: "avx2",
        ONEDNN_MAX_CPU_ISA: "AVX2",
        MKL_ENABLE_INSTRUCTIONS: "AVX2",
      }
    : {};

/** Starts a Python program; no GPU and no network, so that it has what we have. */
export function startPython(name: string, file: URL): LineProcess {
  return new LineProcess(name, python, [fileURLToPath(file)], {
    CUDA_VISIBLE_DEVICES: "",
    HF_HUB_OFFLINE: "1",
    ...instructions,
  });
}
