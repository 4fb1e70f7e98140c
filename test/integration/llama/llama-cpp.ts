/** Real llama.cpp, as node-llama-cpp's prebuilt binary; installed once into `.cache/`, run in a process of its own. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { runCommand } from "../run-command.ts";

const version = "3.22.1";

function installed(): string {
  const folder = join(root, ".cache", "integration", `node-llama-cpp-${version}`);
  if (existsSync(join(folder, "node_modules/node-llama-cpp"))) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const args = ["install", "--ignore-scripts", "--no-audit", `node-llama-cpp@${version}`];
  runCommand("npm", args, { cwd: folder });
  return folder;
}

export interface LlamaQuestions {
  readonly prompts: readonly (readonly number[])[];
  readonly maxTokens: number;
  readonly texts: readonly string[];
  /** File of a LoRA adapter. */
  readonly adapter?: string;
}

export interface LlamaAnswers {
  /** Greedy, without the token that ended them. */
  readonly answers: readonly (readonly number[])[];
  /** Ids of each text. */
  readonly tokens: readonly (readonly number[])[];
}

/** What llama.cpp makes of a model file. */
export function askLlama(model: string, questions: LlamaQuestions): LlamaAnswers {
  const folder = installed();
  const runner = join(folder, "ask.mjs");
  writeFileSync(runner, readFileSync(join(import.meta.dirname, "ask.mjs")));
  const { status, stdout } = spawnSync(process.execPath, [runner, model], {
    input: JSON.stringify(questions),
    stdio: ["pipe", "pipe", 2],
    maxBuffer: 2 ** 26,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`llama.cpp ended with ${status}.`);
  return JSON.parse(stdout) as LlamaAnswers;
}
