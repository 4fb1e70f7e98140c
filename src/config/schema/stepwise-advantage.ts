/** Options of advantages per step instead of per trajectory. */
import { z } from "zod";
import { fraction, type Section } from "./kinds.ts";
import { isOn, needs, under } from "./option-meta.ts";

export const stepwiseAdvantageOptions: Section<"stepwiseAdvantage"> = z
  .strictObject({
    enable: z
      .boolean()
      .default(false)
      .describe(
        "Step-wise advantages: apply stepwise_advantage.mode, gamma and normalize_by_steps; false gives all steps the advantage of their trajectory.",
      ),
    ...under(
      {
        mode: z
          .enum(["broadcast", "per_step"])
          .default("broadcast")
          .describe(
            "Unit of the comparison: broadcast gives all steps the advantage of their trajectory, per_step compares the return of step k with that of step k of the other trajectories in the group.",
          ),
        gamma: fraction()
          .default(1)
          .describe(
            "Discount of later steps' rewards in the return of a step, for stepwise_advantage.mode=per_step; 1 is no discount, 0 ignores later steps, for workflows that have discounted already.",
          )
          .meta(
            needs({
              option: "stepwise_advantage.mode",
              is: ["per_step"],
            }),
          ),
        normalize_by_steps: z
          .boolean()
          .default(false)
          .describe("Divide the advantages of a trajectory by its number of steps."),
      },
      isOn("stepwise_advantage.enable"),
    ),
  })
  .prefault({});
