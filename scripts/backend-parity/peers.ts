/** The backends to compare with `local`, each next to a local one that starts from the same weights. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFireworksBackend } from "../../src/backends/fireworks/index.ts";
import { createLocalBackend, type LocalBackend } from "../../src/backends/local/index.ts";
import { createTinkerBackend } from "../../src/backends/tinker/index.ts";
import type { LoraSpec, RunContext, TrainingBackend } from "../../src/core/backend.ts";
import { defaultOptim, type OptimSpec } from "../../src/core/loss/loss.ts";
import { baseModel, key, startFireworks } from "../../test/fireworks/local-fireworks.ts";
import { adapters, critic, kto, type Lesson, ppo } from "./lessons.ts";
import type { Resources } from "./resources.ts";
import { fetchOf, modelPath, startServer, token } from "../../test/tinker/local-server.ts";
import {
  modelFolder as qwen3Folder,
  startSkyrl,
} from "../../test/integration/tinker/skyrl-server.ts";
import { modelFolder as qwen2Folder, verlOnCpu } from "../../test/integration/verl/verl-on-cpu.ts";

/** Both have been started, on the same weights. */
export interface Pair {
  readonly backend: TrainingBackend;
  readonly local: TrainingBackend;
}

export interface Peer {
  readonly name: string;
  /** What it computes, and in which numbers. */
  readonly what: string;
  readonly optim: OptimSpec;
  readonly lessons: readonly Lesson[];
  readonly open: (resources: Resources, lesson: Lesson) => Promise<Pair>;
}

/** With this eps a step is a smooth function of the gradient; no clipping, which not every server has. */
const optim: OptimSpec = { ...defaultOptim, learningRate: 0.01, eps: 1e-3, maxGradNorm: 0 };

const lora: LoraSpec = { rank: 8, alpha: 32 };
const contextOf = (
  name: string,
  adapter: LoraSpec | null = lora,
  { adapters: further = [] }: Partial<Lesson> = {},
): RunContext => ({
  seed: 5,
  model: { name, lora: adapter, adapters: further },
  signal: new AbortController().signal,
});

async function startLocal(resources: Resources, context: RunContext): Promise<LocalBackend> {
  const local = resources.use(createLocalBackend({ precision: "f32" }));
  await local.start(context);
  return local;
}

/** The adapter that SkyRL began with, in place of that of `local`. */
async function takeAdapter(local: LocalBackend, checkpoints: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "parity-"));
  await local.saveState(folder);
  const [model] = readdirSync(checkpoints);
  const samplers = join(checkpoints, model!, "sampler_weights");
  const [archive] = readdirSync(samplers);
  const unpacked = mkdtempSync(join(tmpdir(), "parity-"));
  execFileSync("tar", ["-xzf", join(samplers, archive!), "-C", unpacked]);
  const files = readdirSync(unpacked, { recursive: true, encoding: "utf8" });
  const file = files.find((name) => name.endsWith("adapter_model.safetensors"));
  copyFileSync(join(unpacked, file!), join(folder, "adapter_model.safetensors"));
  await local.loadState(folder, 0);
}

export const peers: readonly Peer[] = [
  {
    name: "tinker, our server",
    what: "LoRA on the built-in model, 32 bit",
    optim,
    lessons: [ppo, kto, adapters],
    async open(resources, lesson) {
      const served = resources.use(await startServer());
      const backend = resources.use(
        createTinkerBackend({
          baseUrl: "http://tinker.test",
          apiKey: token,
          tokenizer: modelPath,
          client: { fetch: fetchOf(served.server) },
        }),
      );
      await backend.start(contextOf("shop-tiny", lora, lesson));
      const local = await startLocal(resources, contextOf(modelPath, lora, lesson));
      return { backend, local };
    },
  },
  {
    name: "fireworks, stand-in",
    what: "LoRA on the built-in model, 32 bit",
    optim,
    lessons: [ppo, kto],
    async open(resources) {
      const served = resources.use(await startFireworks());
      const backend = resources.use(
        createFireworksBackend({
          baseUrl: "http://fireworks.test",
          apiKey: key,
          account: "local",
          tokenizer: modelPath,
          contextLength: 512,
          client: { fetch: fetchOf(served.server) },
        }),
      );
      await backend.start(contextOf(baseModel));
      return { backend, local: await startLocal(resources, contextOf(modelPath)) };
    },
  },
  {
    name: "tinker, SkyRL 0.4.0",
    what: "LoRA on a random Qwen3, JAX on a CPU",
    optim,
    lessons: [ppo, kto],
    async open(resources) {
      const skyrl = resources.use(await startSkyrl(8464));
      const backend = resources.use(
        createTinkerBackend({
          baseUrl: skyrl.url,
          apiKey: "tml-dummy",
          contextLength: 512,
          snapshots: "live",
        }),
      );
      await backend.start(contextOf(qwen3Folder()));
      const local = await startLocal(resources, contextOf(qwen3Folder()));
      await takeAdapter(local, skyrl.checkpoints);
      return { backend, local };
    },
  },
  {
    name: "verl 0.9.0",
    what: "all weights of a random Qwen2, FSDP on two CPU ranks, 32 bit",
    optim: { ...optim, maxGradNorm: defaultOptim.maxGradNorm },
    lessons: [ppo, kto, critic],
    async open(resources, lesson) {
      const backend = resources.use(
        verlOnCpu({
          optim: { ...optim, maxGradNorm: defaultOptim.maxGradNorm },
          batchSize: 1,
          groupSize: 3,
          temperature: 1,
          topP: 1,
          topK: 0,
          maxTokens: 8,
          reference: false,
          critic: lesson.critic === true,
        }),
      );
      await backend.start(contextOf(qwen2Folder(), null));
      return { backend, local: await startLocal(resources, contextOf(qwen2Folder(), null)) };
    },
  },
];
