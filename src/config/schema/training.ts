/** Options of the optimizer. */
import { z } from "zod";
import { defaultOptim } from "../../core/loss.ts";
import { scheduleNames } from "../../algorithms/schedule.ts";
import { count, share } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free, freeAndNeeds } from "./option-meta.ts";

export const trainingOptions: Section<"training"> = z
  .strictObject({
    learning_rate: share()
      .default(defaultOptim.learningRate)
      .describe(
        "Peak learning rate, after warm-up; 0 freezes the weights. verl and TRL use 1e-6 by default for full fine-tuning; LoRA needs more.",
      )
      .meta(free),
    lr_schedule: z
      .enum(scheduleNames)
      .default("constant")
      .describe(
        "Learning-rate schedule after warm-up; linear and cosine decay to training.min_lr_ratio.",
      )
      .meta(free),
    warmup_steps: count(0)
      .default(0)
      .describe("Steps of linear learning-rate warm-up; 0 is none, or training.warmup_steps_ratio.")
      .meta(free),
    warmup_steps_ratio: share()
      .default(0)
      .describe(
        "Learning-rate warm-up as a fraction of all steps, where training.warmup_steps is 0; 0 is none.",
      )
      .meta(freeAndNeeds({ option: "training.warmup_steps", is: [0] })),
    min_lr_ratio: share()
      .default(0)
      .describe(
        "Final learning rate of the linear and cosine schedules, as a fraction of training.learning_rate.",
      )
      .meta(freeAndNeeds({ option: "training.lr_schedule", is: ["linear", "cosine"] })),
    beta1: z
      .number()
      .min(0)
      .lt(1)
      .default(defaultOptim.beta1)
      .describe("AdamW β1 (arXiv:1711.05101): decay of the first moment."),
    beta2: z
      .number()
      .min(0)
      .lt(1)
      .default(defaultOptim.beta2)
      .describe("AdamW β2: decay of the second moment; TRL and verl use 0.999 by default."),
    eps: z
      .number()
      .gt(0)
      .max(1)
      .default(defaultOptim.eps)
      .describe("AdamW ε, added to the denominator for numerical stability."),
    weight_decay: z
      .number()
      .min(0)
      .default(defaultOptim.weightDecay)
      .describe("Decoupled weight decay of AdamW, on matrices only; 0 is off."),
    max_grad_norm: z
      .number()
      .min(0)
      .default(defaultOptim.maxGradNorm)
      .describe(
        "Maximum global gradient norm; larger gradients are scaled down to it. 0 is no clipping; TRL and verl use 1 by default.",
      )
      .meta(free),
    num_minibatches: count(1)
      .default(1)
      .describe(
        "Mini-batches that the rows of a step are split into, each with its own optimizer step.",
      )
      .meta(free),
    ppo_epochs: count(1)
      .default(1)
      .describe(
        "Passes over the rows of a step; with 1, verl's and TRL's default, each row is trained on once.",
      )
      .meta(free),
  })
  .prefault({});
