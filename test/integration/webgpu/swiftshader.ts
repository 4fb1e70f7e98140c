/**
 * A WebGPU adapter for machines without a graphics card: SwiftShader, Google's Vulkan on processors, as
 * an npm package brings it along for Chromium. Put once into `.cache/`; for Linux on x64.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { root } from "../root.ts";

const version = "147.0.0";

function run(cwd: string, command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  throw new Error(`"${command} ${args.join(" ")}" failed with ${error?.message ?? status}.`);
}

function libraries(): string {
  const folder = join(root, ".cache", "integration", `swiftshader-${version}`);
  if (existsSync(join(folder, "libvk_swiftshader.so"))) return folder;
  mkdirSync(folder, { recursive: true });
  run(folder, "npm", ["pack", "--silent", `@sparticuz/chromium@${version}`]);
  const packed = "package/bin/swiftshader.tar.br";
  run(folder, "tar", ["-xzf", `sparticuz-chromium-${version}.tgz`, packed]);
  writeFileSync(
    join(folder, "libraries.tar"),
    brotliDecompressSync(readFileSync(join(folder, packed))),
  );
  run(folder, "tar", ["-xf", "libraries.tar"]);
  return folder;
}

/** Environment in which a process finds the adapter. */
export function withAdapter(): NodeJS.ProcessEnv {
  const folder = libraries();
  const driver = join(folder, "vk_swiftshader_icd.json");
  return {
    ...process.env,
    LD_LIBRARY_PATH: folder,
    VK_ICD_FILENAMES: driver,
    VK_DRIVER_FILES: driver,
  };
}
