/** Options of the files that the command line reads. */
import { z } from "zod";
import { words } from "./kinds.ts";
import type { Section } from "./section.ts";

export const datasetOptions: Section<"dataset"> = z
  .strictObject({
    train: words()
      .nullable()
      .default(null)
      .describe("Training tasks: .jsonl, .json, .csv, .tsv or path#export. Command line only."),
    val: words()
      .nullable()
      .default(null)
      .describe("Validation tasks, in the same forms. Command line only."),
  })
  .prefault({});
