/** Options of the model that is trained, and of its optimizer. */
import { z } from "zod";
import {
  fraction,
  integer,
  loraTargets,
  nonEmptyString,
  ofModel,
  type Section,
  atOnce,
} from "./kinds.ts";
import { adapterMap } from "../adapter-map.ts";
import { weightMap } from "../role-map.ts";
import { free, needs, needsBackend } from "./option-meta.ts";
import { oneOf } from "./variants.ts";
import { defaultOptim } from "../../core/loss/loss.ts";
import type { ScheduleName } from "../../algorithms/schedule.ts";

/** The smallest that answers in sentences: 0.27 GB. */
export const defaultModel = "HuggingFaceTB/SmolLM2-135M-Instruct";

export const modelOptions: Section<"model"> = z
  .strictObject({
    name: nonEmptyString()
      .default(defaultModel)
      .describe(
        "Model that is trained: a model folder, a run folder (its newest checkpoint), a .gguf file, OWNER/NAME on a hub, or builtin:shop-tiny; which of these work depends on the backend.",
      ),
    lora_rank: ofModel(atOnce(0))
      .describe(
        "Rank of the LoRA adapters (arXiv:2106.09685); 0 trains all weights, without LoRA. null is 32 for a model that is larger than the built-in one, and where the backend trains only adapters; else 0.",
      )
      .meta({ ofModel: { plain: 0 }, ...needsBackend("loraOrFull", "all") }),
    lora_alpha: z
      .number()
      .gt(0)
      .default(32)
      .describe(
        "Scale of the LoRA adapters: their output is multiplied by lora_alpha / lora_rank (arXiv:2106.09685).",
      )
      .meta({
        ...needs({ option: "model.lora_rank", above: 0 }),
        ...needsBackend("loraAlpha", "all"),
        // 32 is the only one that some backends support.
        exampleValues: [32, 16],
      }),
    quantization: z
      .enum(["none", "int8"])
      .default("none")
      .describe(
        "Precision of the frozen linear layers under the LoRA adapters, both in sampling and in training (as QLoRA, arXiv:2305.14314): int8 is 8-bit integers with one scale per output, none the numbers of the model.",
      )
      .meta({
        ...needs({ option: "model.lora_rank", above: 0 }),
        ...needsBackend("quantization"),
        resume: "never",
      }),
    lora_targets: loraTargets()
      .default("all")
      .describe(
        "Linear layers that get a LoRA adapter: all of the blocks, those of the attention, those of the MLP, or a list of names. Adapters on attention alone learn less, even with as many weights (Thinking Machines, LoRA Without Regret).",
      )
      .meta({
        resume: "never",
        ...needs({ option: "model.lora_rank", above: 0 }),
        ...needsBackend("loraTargets"),
      }),
    adapter_by_role: adapterMap()
      .describe(
        "LoRA adapters for single roles on one base model, as {role: adapter}, each sampled and trained by the calls of its roles only. none is the base model alone, which is not trained. Roles that are not named share the adapter default.",
      )
      .meta({
        resume: "never",
        ...needsBackend("adapters"),
      }),
  })
  .prefault({} as { name: string });

const warmup = {
  warmup: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .refine((value) => value < 1 || Number.isInteger(value))
    .default(0)
    .describe(
      "Linear warm-up of the learning rate: a number of steps, or below 1 a fraction of all steps, rounded down; 0 is none.",
    )
    .meta({
      ...needsBackend("learningRate"),
      allowed: "a whole number of steps of at least 0, or a fraction below 1",
      exampleValues: [10, 0.1],
    }),
};

const decay = {
  ...warmup,
  min_ratio: fraction()
    .default(0)
    .describe("Final learning rate, as a fraction of training.learning_rate."),
};

const schedules = { constant: warmup, linear: decay, cosine: decay } satisfies Record<
  ScheduleName,
  unknown
>;

export const trainingOptions: Section<"training"> = z
  .strictObject({
    learning_rate: ofModel(fraction())
      .describe(
        "Peak learning rate, after warm-up; 0 freezes the weights. null is 1e-4 for the built-in model; for larger ones 3e-4 with LoRA, as in tinker-cookbook, and a tenth of it for full fine-tuning (Thinking Machines, LoRA Without Regret), for which verl and TRL use 1e-6.",
      )
      .meta({
        ...free,
        ofModel: { plain: defaultOptim.learningRate },
        ...needsBackend("learningRate"),
      }),
    learning_rate_by_adapter: weightMap({ what: "adapters", min: 0, example: "default=1e-5" })
      .describe(
        "Learning rates of single adapters of model.adapter_by_role in place of training.learning_rate, as {judge: 1e-5}, with the same schedule; 0 freezes one as it is. The adapter of roles that are not named is default.",
      )
      .meta({
        ...free,
        ...needsBackend("adapters"),
      }),
    lr_schedule: oneOf(schedules, "constant", {
      description: "Learning-rate schedule after warm-up; linear and cosine decay to min_ratio.",
      ...free,
      ...needsBackend("learningRate"),
    }),
    beta1: z
      .number()
      .min(0)
      .lt(1)
      .default(defaultOptim.beta1)
      .describe("AdamW β1 (arXiv:1711.05101): decay of the first moment.")
      .meta(needsBackend("beta1")),
    beta2: z
      .number()
      .min(0)
      .lt(1)
      .default(defaultOptim.beta2)
      .describe("AdamW β2: decay of the second moment; TRL and verl use 0.999 by default.")
      .meta(needsBackend("beta2")),
    eps: z
      .number()
      .gt(0)
      .max(1)
      .default(defaultOptim.eps)
      .describe("AdamW ε, added to the denominator for numerical stability.")
      .meta(needsBackend("eps")),
    weight_decay: z
      .number()
      .min(0)
      .default(defaultOptim.weightDecay)
      .describe("Decoupled weight decay of AdamW, on matrices only; 0 is off.")
      .meta(needsBackend("weightDecay")),
    max_grad_norm: z
      .number()
      .min(0)
      .default(defaultOptim.maxGradNorm)
      .describe(
        "Maximum global gradient norm; larger gradients are scaled down to it. 0 is no clipping; TRL and verl use 1 by default.",
      )
      .meta({ ...free, ...needsBackend("maxGradNorm") }),
    num_minibatches: atOnce(1)
      .default(1)
      .describe(
        "Mini-batches that the rows of a step are split into, each with its own optimizer step.",
      )
      .meta(free),
    ppo_epochs: integer(1, 10_000)
      .default(1)
      .describe(
        "Passes over the rows of a step; with 1, verl's and TRL's default, each row is trained on once.",
      )
      .meta(free),
  })
  .prefault({});
