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
        "Folder with the model's tokenizer, or its OWNER/NAME on a hub; null is model.name, or what the server says.",
      )
      .meta(free),
    context_length: count(2)
      .nullable()
      .default(null)
      .describe("Longest prompt and completion in tokens; null asks the server.")
      .meta(free),
    checkpoint_ttl_s: count(1)
      .nullable()
      .default(null)
      .describe("Seconds after which the server may delete a checkpoint; null is never.")
      .meta(free),
  })
  .prefault({})
  .describe("Options of the backend that the command line makes for backend: tinker.");
