/** Options of the Tinker backend. */
import { z } from "zod";
import { count, words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free } from "./option-meta.ts";

export const tinkerOptions: Section<"tinker"> = z
  .strictObject({
    tokenizer: words()
      .nullable()
      .default(null)
      .describe(
        "Tokenizer of the model: a folder or OWNER/NAME on a hub; null is model.name, or what the server reports.",
      )
      .meta(free),
    context_length: count(2)
      .nullable()
      .default(null)
      .describe(
        "Context length of the model: maximum tokens of prompt and completion together; null requests it from the server.",
      )
      .meta(free),
    checkpoint_ttl_s: count(1)
      .nullable()
      .default(null)
      .describe("Time in seconds after which the server may delete a checkpoint; null is never.")
      .meta(free),
  })
  .prefault({})
  .describe("Options of the backend that the command line creates for backend=tinker.");
