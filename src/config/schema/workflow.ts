/** Options of how rollouts run: how many at a time, tries, deadlines. */
import { z } from "zod";
import { count } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free } from "./option-meta.ts";

/** Timers of Node hold at most 2^31 - 1 milliseconds, 24 days; rLLM writes a million seconds for "no limit". */
const maxSeconds = 2_147_483;

export const workflowOptions: Section<"workflow"> = z
  .strictObject({
    n_parallel_tasks: count(1)
      .default(64)
      .describe("Rollouts that run at the same time.")
      .meta(free),
    retry_limit: count(0)
      .default(2)
      .describe(
        "Further attempts after a connection, the inference server or the set-up failed; see rollout.retry_agent_errors.",
      )
      .meta(free),
    timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(600)
      .describe("Seconds for one attempt.")
      .meta(free),
    setup_timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(300)
      .describe("Seconds for the set-up hook of one attempt.")
      .meta(free),
    call_timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(600)
      .describe("Seconds for one model call; at most timeout_s counts.")
      .meta(free),
    evaluator_timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(60)
      .describe("Seconds for one evaluation.")
      .meta(free),
    teardown_timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(60)
      .describe("Seconds for clearing away what a set-up hook made.")
      .meta(free),
  })
  .prefault({});
