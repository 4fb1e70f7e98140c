/** Options of the datasets that the command line reads. */
import { z } from "zod";
import { words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free } from "./option-meta.ts";

export const datasetOptions: Section<"dataset"> = z
  .strictObject({
    train: words()
      .nullable()
      .default(null)
      .describe(
        "Training dataset: a .jsonl, .json, .csv or .tsv file, or path#export of a module; null is none. Command line only.",
      )
      .meta(free),
    val: words()
      .nullable()
      .default(null)
      .describe(
        "Validation dataset: a .jsonl, .json, .csv or .tsv file, or path#export of a module; null is no validation. Command line only.",
      )
      .meta(free),
  })
  .prefault({});
