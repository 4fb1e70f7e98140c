/**
 * Makes the virtual environment with the peers that benchmarks compare with, in `.cache/bench-peers`:
 * rLLM's gateway and the proxy of LiteLLM, from PyPI. Does nothing where it is there already.
 *
 *   npm run bench:setup [-- --rebuild]
 *
 * The interpreter is python3, or what PYTHON names; it has to be 3.11 or newer.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Pinned, so that everybody compares with the same. */
const packages = ["rllm-model-gateway==0.1.0", "litellm[proxy]==1.106.2"];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, ".cache", "bench-peers");
const stamp = join(folder, "installed.txt");
const bin = join(folder, process.platform === "win32" ? "Scripts" : "bin");
const wanted = `${packages.join("\n")}\n`;
const say = (text) => process.stderr.write(`${text}\n`);

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  say(`\n"${command} ${args.join(" ")}" failed${error ? `: ${error.message}` : ""}.`);
  say("Set PYTHON to an interpreter of version 3.11 or newer, and check that PyPI can be reached.");
  process.exit(1);
}

if (process.argv.includes("--rebuild")) rmSync(folder, { recursive: true, force: true });
if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) {
  say(`The peers are installed in ${folder}.`);
} else {
  say("Installing the peers (once, some minutes) ...");
  run(process.env.PYTHON ?? "python3", ["-m", "venv", folder]);
  run(join(bin, "python"), ["-m", "pip", "install", "--quiet", ...packages]);
  writeFileSync(stamp, wanted);
}
