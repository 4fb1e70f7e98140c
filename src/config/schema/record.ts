/** Options of what a run keeps beyond metrics and episodes, to be looked at in the viewer. */
import { z } from "zod";
import { integer, type Section } from "./kinds.ts";
import { free, needsBackend } from "./option-meta.ts";

export const recordOptions: Section<"record"> = z
  .strictObject({
    episodes: integer(-1)
      .default(-1)
      .describe(
        "Training rollouts of each step that are kept in the run folder: those of a few tasks, chosen by the seed, and all that failed; -1 keeps all. Validations are kept whole, and metrics are those of all rollouts.",
      )
      .meta({ ...free, allowed: "-1, 0, or a whole number of rollouts", exampleValues: [64] }),
    compression: z
      .enum(["none", "gzip"])
      .default("none")
      .describe(
        "How files of episodes, of tokens in training and of HTTP bodies are written: as text, or packed with gzip to less than half, which zcat and every command here read.",
      )
      .meta(free),
    token_rows: integer(-1)
      .default(0)
      .describe(
        "Training rows of each step whose per-token numbers are kept for the viewer: log-probabilities, entropy (with local), advantages and masks, of a few tasks chosen by the seed; -1 keeps all, 0 none. Costs a forward pass over these rows, with local two.",
      )
      .meta({
        ...free,
        ...needsBackend("forward"),
        allowed: "-1, 0, or a whole number of rows",
        exampleValues: [8],
      }),
    http_body_kb: integer(0)
      .max(65_536)
      .default(0)
      .describe(
        "Kilobytes kept for the viewer of each HTTP request body and each response body of the agents' model calls, with keys redacted; longer ones are cut, and 0 keeps none.",
      )
      .meta({ ...free, exampleValues: [64] }),
  })
  .prefault({});
