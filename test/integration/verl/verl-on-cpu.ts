/** Real verl on real Ray with two workers, without a GPU, on a tiny random Qwen2. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import {
  createVerlBackend,
  type VerlBackend,
  type VerlBackendOptions,
  type VerlRunOptions,
} from "../../../src/backends/verl/index.ts";
import { pythonEnvironment } from "../python-environment.ts";
import { root } from "../root.ts";

/** Another one than the default gets an environment of its own. */
const version = process.env["VERL_TEST_VERSION"] ?? "0.9.0";

const recipe = {
  name: version === "0.9.0" ? "verl" : `verl-${version}`,
  packages: [
    `verl==${version}`,
    "ray[default]==2.60.0",
    "transformers==5.10.4",
    "tensordict==0.10.0",
    "einops==0.8.2",
    // What verl imports without asking for it.
    "fastapi==0.165.0",
    "uvicorn==0.54.0",
    "cachetools==8.0.0",
    // verl 0.8 wants NumPy 1, and later ones do not.
    ...(version.startsWith("0.8.") ? ["pyarrow==21.0.0"] : []),
  ],
  overrides: ["torch==2.11.0"],
};

const shims = join(import.meta.dirname, "python");

/** The built-in model's vocabulary and its token that ends a turn. */
const vocabulary = { size: 512, stop: 509 };

export const hidden = { gpus: 2, moreGpus: 1, contextLength: 512 };

export const python = (): string => pythonEnvironment(recipe);

/** A folder in Hugging Face layout, with the tokenizer of the built-in model. */
export function modelFolder(): string {
  const folder = join(root, ".cache", "integration", "verl-tiny-qwen2");
  if (existsSync(join(folder, "tokenizer.json"))) return folder;
  mkdirSync(folder, { recursive: true });
  const script = join(shims, "make_model.py");
  const args = [script, folder, String(vocabulary.size), String(vocabulary.stop)];
  const { status } = spawnSync(python(), args, { stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error(`${script} failed with ${status}.`);
  for (const file of ["tokenizer_config.json", "tokenizer.json"]) {
    copyFileSync(join(root, "models", "shop-tiny", file), join(folder, file));
  }
  return folder;
}

const actor = "actor_rollout_ref.actor";
const model = "actor_rollout_ref.model";
const rollout = "actor_rollout_ref.rollout";

/** Numbers in 32 bits, and no compiler. */
const plain = (part: string): string[] => [
  `${part}.fsdp_config.model_dtype=fp32`,
  `${part}.fsdp_config.dtype=float32`,
  `+${part}.fsdp_config.mixed_precision={param_dtype:fp32,reduce_dtype:fp32,buffer_dtype:fp32}`,
  `${part}.fsdp_config.use_torch_compile=false`,
];

/** What verl must be told to do without CUDA. */
const cpuOverrides = [
  "trainer.device=cpu",
  `${rollout}.max_model_len=${hidden.contextLength}`,
  `${rollout}.log_prob_max_token_len_per_gpu=2048`,
  `${actor}.ppo_max_token_len_per_gpu=2048`,
  `${actor}.strategy=fsdp2`,
  ...plain(actor),
  ...plain("actor_rollout_ref.ref"),
  `${actor}.use_torch_compile=false`,
  `${model}.enable_gradient_checkpointing=false`,
];

/** The same for a critic, where a run has one. */
const criticOverrides = [
  "critic.strategy=fsdp2",
  "critic.ppo_max_token_len_per_gpu=2048",
  "critic.fsdp.model_dtype=fp32",
  "critic.fsdp.dtype=float32",
  "+critic.fsdp.mixed_precision={param_dtype:fp32,reduce_dtype:fp32,buffer_dtype:fp32}",
  "critic.fsdp.use_torch_compile=false",
  "critic.model.use_remove_padding=false",
  "critic.model.enable_gradient_checkpointing=false",
];

/** Servers on GPUs of their own, and what stands in for nccl. */
export const disaggregated = {
  placement: "disaggregated",
  inferenceGpusPerNode: hidden.moreGpus,
  overrides: [`${rollout}.checkpoint_engine.backend=stub`],
} as const;

/** `more`: the placement, for example. */
export function verlOnCpu(
  run: VerlRunOptions,
  more: Partial<VerlBackendOptions> = {},
): VerlBackend {
  return createVerlBackend({
    ...more,
    run,
    python: python(),
    gpusPerNode: hidden.gpus,
    inference: "stub",
    overrides: [
      ...cpuOverrides,
      ...(run.critic === true ? criticOverrides : []),
      ...(more.overrides ?? []),
    ],
    setupHook: "cpu_shim.install",
    env: {
      PYTHONPATH: [shims, process.env["PYTHONPATH"] ?? ""].filter(Boolean).join(delimiter),
      TORCH_COMPILE_DISABLE: "1",
      OMP_NUM_THREADS: "1",
    },
    engineOptions: {
      server_kind: "vllm",
      // Places to be counted, not devices.
      ray_init: { num_gpus: hidden.gpus + hidden.moreGpus, num_cpus: 12, include_dashboard: false },
    },
    ...(process.env["VERL_TEST_LOG"] === undefined ? {} : { onLog: (line) => console.error(line) }),
  });
}
