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
      .describe("Base learning rate; 0 freezes the weights.")
      .meta(free),
    lr_schedule: z
      .enum(scheduleNames)
      .default("constant")
      .describe("Shape of the learning rate after warm-up.")
      .meta(free),
    warmup_steps: count(0)
      .default(0)
      .describe("Steps over which the learning rate rises to its base value.")
      .meta(free),
    warmup_steps_ratio: share()
      .default(0)
      .describe("The same as a share of all steps, where warmup_steps is 0.")
      .meta(freeAndNeeds({ option: "training.warmup_steps", is: [0] })),
    min_lr_ratio: share()
      .default(0)
      .describe("What linear and cosine fall to, as a share of the base rate.")
      .meta(freeAndNeeds({ option: "training.lr_schedule", is: ["linear", "cosine"] })),
    beta1: z.number().min(0).lt(1).default(defaultOptim.beta1).describe("AdamW, first moment."),
    beta2: z.number().min(0).lt(1).default(defaultOptim.beta2).describe("AdamW, second moment."),
    eps: z.number().gt(0).max(1).default(defaultOptim.eps).describe("AdamW, denominator."),
    weight_decay: z
      .number()
      .min(0)
      .default(defaultOptim.weightDecay)
      .describe("AdamW, decoupled decay."),
    max_grad_norm: z
      .number()
      .min(0)
      .default(defaultOptim.maxGradNorm)
      .describe("Gradients are scaled down to this global norm; 0 is never.")
      .meta(free),
    num_minibatches: count(1)
      .default(1)
      .describe("Parts that a step's rows are dealt into, each with an optimizer step of its own.")
      .meta(free),
    ppo_epochs: count(1).default(1).describe("Passes over a step's rows.").meta(free),
  })
  .prefault({});
