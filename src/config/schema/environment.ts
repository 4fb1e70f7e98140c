/** Options of an environment that gives tasks, tools and rewards: `env`. */
import { z } from "zod";
import { integer, nonEmptyString, type Section } from "./kinds.ts";
import { free, under } from "./option-meta.ts";

const withEnvironment = { option: "env", not: null } as const;

/** Timers of Node hold at most 2^31 - 1 milliseconds. */
const maxSeconds = 2_147_483;

export const environmentOptions: Section<"environment"> = z
  .strictObject({
    ...under(
      {
        split: nonEmptyString()
          .default("train")
          .describe(
            "Split of the environment whose tasks are trained on, unless dataset.train is set.",
          ),
        val_split: nonEmptyString()
          .nullable()
          .default(null)
          .describe(
            "Split of the environment whose tasks are validated on, unless dataset.val is set; null is no validation.",
          )
          .meta(free),
        reward: z
          .enum(["sum", "last"])
          .default("sum")
          .describe(
            "How the rewards of the calls of an episode make that of the rollout: their sum, or the last one. Each is a signal as well.",
          ),
        max_turns: integer(1, 100_000)
          .default(20)
          .describe(
            "Maximum model calls of an episode, for the agent that is used where agent is null.",
          ),
        system_prompt: nonEmptyString()
          .nullable()
          .default(null)
          .describe(
            "System message before the prompt of the environment, for the agent that is used where agent is null; null is none.",
          ),
        max_result_chars: integer(100)
          .default(20_000)
          .describe(
            "Maximum length of a result that the model sees, in characters; the middle of a longer one is omitted.",
          ),
        call_timeout_s: z
          .number()
          .gt(0)
          .max(maxSeconds)
          .default(300)
          .describe("Timeout in seconds of one call of the environment.")
          .meta(free),
        python: nonEmptyString()
          .nullable()
          .default(null)
          .describe(
            "Python interpreter that has the packages verifiers or reasoning-gym, for verifiers: and reasoning-gym: environments; null is the one of agent-trainer env setup, or else python3.",
          )
          .meta(free),
      },
      withEnvironment,
    ),
  })
  .prefault({});

export const envOption: z.ZodDefault<z.ZodNullable<z.ZodString>> = nonEmptyString()
  .nullable()
  .default(null)
  .describe(
    "Environment that gives tasks, tools, prompts and rewards: openenv:URL[#NAME], harbor:FOLDER, verifiers:NAME, reasoning-gym:FAMILY, replay:FOLDER, mcp:COMMAND or mcp:URL, or path#export of a module. null is none.",
  )
  .meta({ exampleValues: ["openenv:http://127.0.0.1:8000"] });
