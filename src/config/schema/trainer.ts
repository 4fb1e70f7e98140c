/** Options of the run: length, validation, checkpoints, names. */
import { z } from "zod";
import {
  integer,
  integerOrAll,
  fraction,
  nonEmptyString,
  type Section,
  seedNumber,
} from "./kinds.ts";
import { free, freeAndNeeds, validationData } from "./option-meta.ts";

export const trainerOptions: Section<"trainer"> = z
  .strictObject({
    total_epochs: integer(1)
      .default(1)
      .describe("Passes over the training tasks; ignored where trainer.total_batches is set.")
      .meta(freeAndNeeds({ option: "trainer.total_batches", is: [-1] })),
    total_batches: integerOrAll()
      .default(-1)
      .describe("Steps of the run; -1 makes as many as trainer.total_epochs takes.")
      .meta(free),
    test_freq: integer(0)
      .default(0)
      .describe(
        "Steps between validations; 0 validates only before the first step (trainer.val_before_train) and after the last.",
      )
      .meta(freeAndNeeds(validationData)),
    val_before_train: z
      .boolean()
      .default(true)
      .describe("Validate once before the first step, if there is validation data.")
      .meta(free),
    val_only: z
      .boolean()
      .default(false)
      .describe("Validate once and do not train.")
      .meta(freeAndNeeds(validationData)),
    save_freq: integer(0)
      .default(10)
      .describe("Steps between checkpoints; 0 saves only at the end.")
      .meta(free),
    seed: seedNumber()
      .default(0)
      .describe("Seed of everything random in the run: task order, sampling, initialization."),
    experiment_name: nonEmptyString()
      .regex(/^[^/\\]*[^/\\.][^/\\]*$/u)
      .nullable()
      .default(null)
      .meta({ allowed: "a folder name, or null", exampleValues: ["first-try"] })
      .describe(
        "Name of the run, and of its folder in trainer.output_dir; null derives one from the date and time.",
      )
      .meta(free),
    output_dir: nonEmptyString()
      .default("runs")
      .describe("Folder in which run folders are created.")
      .meta(free),
    max_failed_fraction: fraction()
      .default(0.5)
      .describe(
        "Maximum fraction of a step's rollouts that may fail before the run stops; rollouts in which the agent failed after a successful model call are scored and do not count.",
      )
      .meta(free),
    stop_when_nothing_learned: z
      .boolean()
      .default(true)
      .describe(
        "End the run with an error after its first three steps, or its last, if every rollout of each failed or left nothing to train on.",
      )
      .meta(free),
    keep_checkpoints: integer(1)
      .default(3)
      .describe("Number of newest checkpoints to keep; older ones are deleted.")
      .meta(free),
    keep_best: z
      .boolean()
      .default(false)
      .describe(
        "Save the step with the best validation so far (trainer.best_metric), and keep it in addition to the newest; RUN/best names it.",
      )
      .meta(freeAndNeeds(validationData)),
    best_metric: nonEmptyString()
      .regex(/^val\//u)
      .default("val/reward/mean")
      .meta({
        allowed: "the name of a metric of validations, val/...",
        exampleValues: ["val/pass@1"],
      })
      .describe(
        "Validation metric whose highest value is the best, for trainer.keep_best and trainer.early_stopping_patience.",
      )
      .meta(freeAndNeeds(validationData)),
    early_stopping_patience: integer(0)
      .default(0)
      .describe(
        "Stop after this many validations in a row without a better value of trainer.best_metric; 0 never stops early.",
      )
      .meta(freeAndNeeds(validationData)),
    early_stopping_min_delta: z
      .number()
      .min(0)
      .default(0)
      .describe(
        "How much higher than the best value before a validation must be to count as better, for trainer.early_stopping_patience.",
      )
      .meta(freeAndNeeds({ option: "trainer.early_stopping_patience", above: 0 })),
  })
  .prefault({});
