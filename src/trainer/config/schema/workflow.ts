/** Options of how rollouts run: how many at a time, tries, deadlines. */
import { z } from "zod";
import { count } from "./kinds.ts";
import type { Section } from "./section.ts";

export const workflowOptions: Section<"workflow"> = z
  .strictObject({
    n_parallel_tasks: count(1).default(64).describe("Rollouts that run at the same time."),
    retry_limit: count(0)
      .default(2)
      .describe(
        "Further attempts after a connection, the inference server or the set-up failed; see rollout.retry_agent_errors.",
      ),
    timeout_s: z.number().gt(0).max(604_800).default(600).describe("Seconds for one attempt."),
    setup_timeout_s: z
      .number()
      .gt(0)
      .max(604_800)
      .default(300)
      .describe("Seconds for the set-up hook of one attempt."),
    call_timeout_s: z
      .number()
      .gt(0)
      .max(604_800)
      .default(600)
      .describe("Seconds for one model call; at most timeout_s counts."),
    evaluator_timeout_s: z
      .number()
      .gt(0)
      .max(604_800)
      .default(60)
      .describe("Seconds for one evaluation."),
    teardown_timeout_s: z
      .number()
      .gt(0)
      .max(604_800)
      .default(60)
      .describe("Seconds for clearing away what a set-up hook made."),
  })
  .prefault({});
