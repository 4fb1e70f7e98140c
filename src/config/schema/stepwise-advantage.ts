/** Options of advantages of steps in place of trajectories. */
import { z } from "zod";
import { share } from "./kinds.ts";
import type { Section } from "./section.ts";
import { isOn, needs } from "./option-meta.ts";

export const stepwiseAdvantageOptions: Section<"stepwiseAdvantage"> = z
  .strictObject({
    enable: z.boolean().default(false).describe("Whether the options below count."),
    mode: z
      .enum(["broadcast", "per_step"])
      .default("broadcast")
      .describe(
        "With broadcast all steps get their trajectory's advantage, with per_step step k is compared with step k of the others.",
      )
      .meta(needs(isOn("stepwise_advantage.enable"))),
    gamma: share()
      .default(1)
      .describe(
        "With per_step the discount of later steps' rewards; 0 where a workflow has done that.",
      )
      .meta(
        needs(isOn("stepwise_advantage.enable"), {
          option: "stepwise_advantage.mode",
          is: ["per_step"],
        }),
      ),
    normalize_by_steps: z
      .boolean()
      .default(false)
      .describe("Divide advantages by the number of steps of their trajectory.")
      .meta(needs(isOn("stepwise_advantage.enable"))),
  })
  .prefault({});
