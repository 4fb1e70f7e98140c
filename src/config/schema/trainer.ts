/** Options of the run: length, validation, checkpoints, names. */
import { z } from "zod";
import { count, countOrAll, share, words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free, freeAndNeeds, validationData } from "./option-meta.ts";

export const trainerOptions: Section<"trainer"> = z
  .strictObject({
    total_epochs: count(1)
      .default(1)
      .describe("Passes over the training tasks; ignored where trainer.total_batches is set.")
      .meta(freeAndNeeds({ option: "trainer.total_batches", is: [-1] })),
    total_batches: countOrAll()
      .default(-1)
      .describe("Steps of the run; -1 makes as many as trainer.total_epochs takes.")
      .meta(free),
    test_freq: count(0)
      .default(0)
      .describe(
        "Steps between validations; 0 validates only before the first step (trainer.val_before_train) and after the last.",
      )
      .meta(freeAndNeeds(validationData)),
    val_before_train: z
      .boolean()
      .default(true)
      .describe("Validate once before the first step.")
      .meta(free),
    val_only: z
      .boolean()
      .default(false)
      .describe("Validate once and do not train.")
      .meta(freeAndNeeds(validationData)),
    save_freq: count(0)
      .default(10)
      .describe("Steps between checkpoints; 0 saves only at the end.")
      .meta(free),
    seed: count(0)
      .max(2 ** 32 - 1)
      .default(0)
      .describe("Seed of everything random in the run: task order, sampling, initialization."),
    project_name: words()
      .default("agent-trainer")
      .describe("Project label, stored with the run; it has no other effect.")
      .meta(free),
    experiment_name: words()
      .regex(/^[^/\\]*[^/\\.][^/\\]*$/u)
      .nullable()
      .default(null)
      .meta({ allowed: "a folder name, or null" })
      .describe("Name of the run folder; null derives one from the date and time.")
      .meta(free),
    output_dir: words()
      .default("runs")
      .describe("Folder in which run folders are created.")
      .meta(free),
    max_failed_share: share()
      .default(0.5)
      .describe(
        "Maximum fraction of a step's rollouts that may fail before the run stops; rollouts in which the agent failed after a successful model call are scored and do not count.",
      )
      .meta(free),
    keep_checkpoints: count(1)
      .default(3)
      .describe("Number of newest checkpoints to keep; older ones are deleted.")
      .meta(free),
    keep_best: z
      .boolean()
      .default(false)
      .describe(
        "Save the step with the best validation so far (trainer.best_metric), and keep it in addition to the newest.",
      )
      .meta(freeAndNeeds(validationData)),
    best_metric: words()
      .regex(/^val\//u)
      .default("val/reward/mean")
      .meta({ allowed: "the name of a metric of validations, val/..." })
      .describe("Validation metric whose highest value is the best, for trainer.keep_best.")
      .meta(freeAndNeeds(validationData)),
  })
  .prefault({});
