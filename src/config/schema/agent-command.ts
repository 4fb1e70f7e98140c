/** Options of an agent that is a command of any language. */
import { z } from "zod";
import { integer, nonEmptyString, type Section, mebibytes } from "./kinds.ts";
import { free, freeAndNeeds, needs, type Requirement, under } from "./option-meta.ts";

const command: Requirement = { option: "agent_command.run", not: null };
const eachRollout: Requirement = { option: "agent_command.serves", is: [false] };

export const agentCommandOptions: Section<"agentCommand"> = z
  .strictObject({
    run: z
      .union([nonEmptyString(), z.array(nonEmptyString()).min(1)])
      .nullable()
      .default(null)
      .describe(
        "Command that is the agent, in place of agent: a text, or a list of words. Its files are relative to the configuration file.",
      )
      .meta({ exampleValues: ["python agent.py"] }),
    ...under(
      {
        serves: z
          .boolean()
          .default(false)
          .describe(
            "Start the command once, as an HTTP server that takes all rollouts, instead of once for each rollout.",
          ),
        cwd: z
          .enum(["own", "folder"])
          .default("own")
          .describe(
            "Folder that the command runs in: own is a new empty one for each rollout, folder is that of the configuration file.",
          )
          .meta(needs(eachRollout)),
        output: z
          .enum(["text", "json"])
          .default("text")
          .describe("How the command's output becomes episode.output: as text, or parsed as JSON.")
          .meta(needs(eachRollout)),
        memory_mb: mebibytes(1)
          .nullable()
          .default(null)
          .describe(
            "Limit in MiB on the resident memory of the command of one rollout and all that it starts, on Linux; null is none.",
          )
          .meta(freeAndNeeds(eachRollout)),
        max_output_bytes: integer(1, 2 ** 29)
          .default(16_777_216)
          .describe("Limit in bytes on what the command of one rollout may write to its outputs.")
          .meta(free),
        pass_env: z
          .array(nonEmptyString())
          .default([])
          .describe(
            "Names of environment variables that the command gets in addition to those of the model and what programs need to run.",
          )
          .meta(free),
      },
      command,
    ),
  })
  .prefault({});
