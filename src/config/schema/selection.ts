/** Options of rejection sampling. */
import { z } from "zod";
import { isOn, under } from "./option-meta.ts";
import { type Section, integer } from "./kinds.ts";

export const rejectionSampleOptions: Section<"rejectionSample"> = z
  .strictObject({
    enable: z
      .boolean()
      .default(false)
      .describe(
        "Rejection sampling: drop tasks whose rollouts teach nothing, as with equal rewards, and roll out others in their place, as DAPO's dynamic sampling does (arXiv:2503.14476).",
      ),
    ...under(
      {
        max_batches: integer(1)
          .default(10)
          .describe(
            "Maximum batches of rollouts that rejection sampling makes for one step; after that, the step trains on what it has.",
          ),
      },
      isOn("rejection_sample.enable"),
    ),
  })
  .prefault({});
