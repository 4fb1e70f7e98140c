/** Options of a Tinker server as a backend. */
import { z } from "zod";
import { integer, nonEmptyString, type Section, tokenCount } from "../kinds.ts";
import { free } from "../option-meta.ts";

export const tinkerOptions: Section<"tinker"> = z
  .strictObject({
    base_url: nonEmptyString()
      .nullable()
      .default(null)
      .describe("URL of the Tinker server; null is TINKER_BASE_URL, else the hosted service.")
      .meta(free),
    tokenizer: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Tokenizer of the model: a folder or OWNER/NAME on a hub; null is model.name, or what the server reports.",
      )
      .meta(free),
    context_length: tokenCount(2)
      .nullable()
      .default(null)
      .describe(
        "Context length of the model: maximum tokens of prompt and completion together; null requests it from the server.",
      )
      .meta(free),
    checkpoint_ttl_s: integer(1)
      .nullable()
      .default(null)
      .describe("Time in seconds after which the server may delete a checkpoint; null is never.")
      .meta(free),
    snapshots: z
      .enum(["probe", "frozen", "live"])
      .default("probe")
      .describe(
        "Whether a snapshot of the server keeps its weights while training continues: probe checks it at the first weight sync and refuses a server whose snapshots follow the trained weights; frozen trusts the server; live trains on one whose snapshots follow, synchronously only.",
      )
      .meta(free),
  })
  .prefault({})
  .describe(
    "Options of the backend tinker, where the trainer creates it: by name, with backend=tinker.",
  );
