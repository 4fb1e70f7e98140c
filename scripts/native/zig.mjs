/** The compiler, of one version, from PyPI, in a cache of this repository. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

export const zigVersion = "0.17.1";

function install(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  throw new Error(`"${[command, ...args].join(" ")}" failed${error ? `: ${error.message}` : ""}.`);
}

/** @returns the path of `python` in whose environment zig is */
function findPython(root) {
  const folder = join(root, ".cache/zig", zigVersion);
  const python = join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  if (!existsSync(join(folder, "ready"))) {
    install(process.platform === "win32" ? "python" : "python3", ["-m", "venv", folder]);
    install(python, ["-m", "pip", "install", "--quiet", `ziglang==${zigVersion}`]);
    mkdirSync(join(folder, "ready"));
  }
  return python;
}

/** @returns a function that runs zig with its arguments, as many at a time as there are processors */
export function openZig(root) {
  const python = findPython(root);
  const waiting = [];
  let free = availableParallelism();
  return async (...args) => {
    if (free > 0) free--;
    else await new Promise((resolve) => waiting.push(resolve));
    try {
      await new Promise((resolve, reject) => {
        execFile(python, ["-m", "ziglang", ...args], { cwd: root }, (error, _, stderr) => {
          if (error === null) resolve();
          else reject(new Error(`"zig ${args.join(" ")}" failed:\n${stderr}`));
        });
      });
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
