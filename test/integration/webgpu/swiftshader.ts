/**
 * A WebGPU adapter for machines without a graphics card: SwiftShader, Google's Vulkan on processors, as
 * an npm package brings it along for Chromium. Put once into `.cache/`; for Linux on x64.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { root } from "../root.ts";
import { runCommand } from "../run-command.ts";

const version = "147.0.0";

function libraries(): string {
  const folder = join(root, ".cache", "integration", `swiftshader-${version}`);
  if (existsSync(join(folder, "libvk_swiftshader.so"))) return folder;
  mkdirSync(folder, { recursive: true });
  runCommand("npm", ["pack", "--silent", `@sparticuz/chromium@${version}`], { cwd: folder });
  const packed = "package/bin/swiftshader.tar.br";
  runCommand("tar", ["-xzf", `sparticuz-chromium-${version}.tgz`, packed], { cwd: folder });
  writeFileSync(
    join(folder, "libraries.tar"),
    brotliDecompressSync(readFileSync(join(folder, packed))),
  );
  runCommand("tar", ["-xf", "libraries.tar"], { cwd: folder });
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
