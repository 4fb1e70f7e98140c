/**
 * Makes the virtual environment with PyTorch, transformers, PEFT and TRL that `engine-train`,
 * `engine-sample` and `grpo-step` compare with, in `.cache/bench-torch` (some 6 GB: the wheel of PyPI brings its GPU
 * libraries along). Does nothing where it is there already.
 *
 *   npm run bench:setup:torch [-- --rebuild]
 *
 * The interpreter is python3, or what PYTHON names.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Pinned, so that everybody compares with the same. */
const packages = ["torch==2.15.0", "transformers==5.23.0", "peft==0.21.2", "trl==1.16.0"];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, ".cache", "bench-torch");
const stamp = join(folder, "installed.txt");
const bin = join(folder, process.platform === "win32" ? "Scripts" : "bin");
const wanted = `${packages.join("\n")}\n`;
const say = (text) => process.stderr.write(`${text}\n`);

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  say(`\n"${command} ${args.join(" ")}" failed${error ? `: ${error.message}` : ""}.`);
  say("Check that PyPI can be reached and that there are 10 GB of room.");
  process.exit(1);
}

if (process.argv.includes("--rebuild")) rmSync(folder, { recursive: true, force: true });
if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) {
  say(`PyTorch is installed in ${folder}.`);
} else {
  say("Installing PyTorch, transformers, PEFT and TRL (once, some minutes) ...");
  run(process.env.PYTHON ?? "python3", ["-m", "venv", folder]);
  run(join(bin, "python"), ["-m", "pip", "install", "--quiet", ...packages]);
  writeFileSync(stamp, wanted);
}
