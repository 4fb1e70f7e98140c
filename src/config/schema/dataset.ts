/** Options of the files that the command line reads. */
import { z } from "zod";
import { words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free } from "./option-meta.ts";

export const datasetOptions: Section<"dataset"> = z
  .strictObject({
    train: words()
      .nullable()
      .default(null)
      .describe("Training tasks: .jsonl, .json, .csv, .tsv or path#export. Command line only.")
      .meta(free),
    val: words()
      .nullable()
      .default(null)
      .describe("Validation tasks, in the same forms. Command line only.")
      .meta(free),
  })
  .prefault({});
