/** SkyRL's Tinker server (its JAX backend) on the CPU, with a small random Qwen3. Needs Python 3.12. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pythonEnvironment } from "../python-environment.ts";
import { root } from "../root.ts";
import { startServer, type ServerProcess } from "../server-process.ts";

const recipe = {
  name: "skyrl",
  packages: ["skyrl[tinker,jax]==0.4.0", "aiohttp==3.14.5", "psutil==7.2.2"],
  overrides: ["torch==2.11.0"],
  interpreter: process.env["PYTHON_3_12"] ?? "python3.12",
};

/** The built-in model's vocabulary and its token that ends a turn. */
const vocabulary = { size: 512, stop: 509 };

/** In Hugging Face layout, with the tokenizer of the built-in model. */
export function modelFolder(): string {
  const folder = join(root, ".cache", "integration", "skyrl-tiny-qwen3");
  if (existsSync(join(folder, "tokenizer.json"))) return folder;
  mkdirSync(folder, { recursive: true });
  const script = join(import.meta.dirname, "python", "make_qwen3.py");
  const args = [script, folder, String(vocabulary.size), String(vocabulary.stop)];
  const { status } = spawnSync(pythonEnvironment(recipe), args, { stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error(`${script} failed with ${status}.`);
  for (const file of ["tokenizer_config.json", "tokenizer.json"])
    copyFileSync(join(root, "models", "shop-tiny", file), join(folder, file));
  return folder;
}

export interface SkyrlServer extends ServerProcess {
  readonly url: string;
  /** Where it writes `MODEL/sampler_weights/NAME.tar.gz`, adapters in PEFT's format. */
  readonly checkpoints: string;
}

/** Batches of fixed size, so that JAX compiles few shapes. */
const backendConfig = {
  max_lora_adapters: 4,
  max_lora_rank: 8,
  train_micro_batch_size: 8,
  sample_max_num_sequences: 8,
};

export async function startSkyrl(port: number): Promise<SkyrlServer> {
  const python = pythonEnvironment(recipe);
  const bin = dirname(python);
  const folder = mkdtempSync(join(tmpdir(), "skyrl-"));
  const url = `http://127.0.0.1:${port}`;
  // It starts its engine with the `uv run` that it was started with.
  const run = ["run", "--no-project", "--python", python, "-m", "skyrl.tinker.api"];
  const server = await startServer({
    command: join(bin, "uv"),
    args: [
      ...run,
      ...["--base-model", modelFolder(), "--backend", "jax"],
      ...["--backend-config", JSON.stringify(backendConfig)],
      ...["--checkpoints-base", join(folder, "checkpoints")],
      ...["--database-url", `sqlite:///${join(folder, "tinker.db")}`],
      ...["--host", "127.0.0.1", "--port", String(port)],
    ],
    env: {
      PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
      JAX_PLATFORMS: "cpu",
      HF_HUB_OFFLINE: "1",
    },
    healthUrl: `${url}/api/v1/healthz`,
    limitMs: 120_000,
  });
  return { ...server, url, checkpoints: join(folder, "checkpoints") };
}
