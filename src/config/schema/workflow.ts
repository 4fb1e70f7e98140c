/** Options of how rollouts run: concurrency, retries, timeouts. */
import { z } from "zod";
import { integer, type Section, atOnce } from "./kinds.ts";
import { free } from "./option-meta.ts";

/** Timers of Node hold at most 2^31 - 1 milliseconds, 24 days; rLLM writes a million seconds for "no limit". */
const maxSeconds = 2_147_483;

export const workflowOptions: Section<"workflow"> = z
  .strictObject({
    n_parallel_tasks: atOnce(1)
      .default(64)
      .describe("Maximum rollouts that run at the same time.")
      .meta(free),
    retry_limit: integer(0, 1000)
      .default(2)
      .describe(
        "Maximum retries of a rollout after a failure of the connection, the inference server or the setup hook; 0 is none. For failures of the agent, see rollout.retry_agent_errors.",
      )
      .meta(free),
    timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(600)
      .describe("Timeout in seconds of one rollout attempt.")
      .meta(free),
    setup_timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(300)
      .describe("Timeout in seconds of the setup hook of one rollout attempt.")
      .meta(free),
    call_timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(600)
      .describe("Timeout in seconds of one model call, capped at workflow.timeout_s.")
      .meta(free),
    evaluator_timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(60)
      .describe("Timeout in seconds of the evaluation of one rollout.")
      .meta(free),
    teardown_timeout_s: z
      .number()
      .gt(0)
      .max(maxSeconds)
      .default(60)
      .describe(
        "Timeout in seconds of the teardown of one rollout attempt, which removes what its setup hook created.",
      )
      .meta(free),
  })
  .prefault({});
