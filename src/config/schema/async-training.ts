/** Options of asynchronous training: rollouts run while the policy is updated. */
import { z } from "zod";
import { integer, type Section, taskCount } from "./kinds.ts";
import { isOn, needsBackend, under } from "./option-meta.ts";

export const asyncTrainingOptions: Section<"asyncTraining"> = z
  .strictObject({
    enable: z
      .boolean()
      .default(false)
      .describe(
        "Asynchronous training: rollouts run while the policy is updated. false is synchronous: all rollouts of a step end before its update begins.",
      )
      .meta({ resume: "never", ...needsBackend("servesWhileTraining") }),
    ...under(
      {
        mini_batch_size: taskCount(1)
          .nullable()
          .default(null)
          .describe(
            "Tasks per optimizer step of asynchronous training; null is data.train_batch_size.",
          ),
        staleness_threshold: z
          .number()
          .min(0)
          .max(1000)
          .default(1)
          .describe(
            "Maximum staleness of rollouts, in weight syncs, rounded up; 0 allows only those sampled since the last sync. AReaL reports no loss of accuracy at 4 with decoupled ratios, as of algorithm.rollout_correction=recompute (arXiv:2505.24298).",
          )
          .meta({ resume: "never" }),
        trigger_parameter_sync_step: integer(1)
          .default(1)
          .describe(
            "Optimizer steps between two weight syncs to the sampler; 1 syncs after every step.",
          )
          .meta({ resume: "never" }),
        partial_rollout: z
          .boolean()
          .default(true)
          .describe(
            "Let rollouts continue through a weight sync; false waits for those in flight and starts none until the sync is done.",
          ),
      },
      isOn("async_training.enable"),
    ),
  })
  .prefault({});
