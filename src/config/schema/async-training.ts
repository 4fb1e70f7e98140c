/** Options of generating and training at the same time. */
import { z } from "zod";
import { count } from "./kinds.ts";
import type { Section } from "./section.ts";
import { isOn, needs } from "./option-meta.ts";

export const asyncTrainingOptions: Section<"asyncTraining"> = z
  .strictObject({
    enable: z
      .boolean()
      .default(false)
      .describe("Roll out while training; off: a step's rollouts end before its update begins.")
      .meta({ resume: "never" }),
    mini_batch_size: count(1)
      .nullable()
      .default(null)
      .describe("Tasks per optimizer step; null is data.train_batch_size.")
      .meta(needs(isOn("async_training.enable"))),
    staleness_threshold: z
      .number()
      .min(0)
      .max(1000)
      .default(1)
      .describe(
        "How far rollouts may run ahead, in exchanges of weights; none is trained on that is older by more than this, rounded up.",
      )
      .meta(needs(isOn("async_training.enable"))),
    trigger_parameter_sync_step: count(1)
      .default(1)
      .describe("Optimizer steps between two exchanges of weights.")
      .meta(needs(isOn("async_training.enable"))),
    partial_rollout: z
      .boolean()
      .default(true)
      .describe(
        "Rollouts go on through an exchange of weights; false waits for those under way and starts none meanwhile.",
      )
      .meta(needs(isOn("async_training.enable"))),
  })
  .prefault({});
