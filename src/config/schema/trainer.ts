/** Options of the run: its length, validation, checkpoints, names. */
import { z } from "zod";
import { count, countOrAll, share, words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free, freeAndNeeds, validationData } from "./option-meta.ts";

export const trainerOptions: Section<"trainer"> = z
  .strictObject({
    total_epochs: count(1)
      .default(1)
      .describe("Passes over the training tasks.")
      .meta(freeAndNeeds({ option: "trainer.total_batches", is: [-1] })),
    total_batches: countOrAll()
      .default(-1)
      .describe("Optimizer steps; -1 lets total_epochs decide.")
      .meta(free),
    test_freq: count(0)
      .default(0)
      .describe("Validate every so many steps; 0 only before and after.")
      .meta(freeAndNeeds(validationData)),
    val_before_train: z
      .boolean()
      .default(true)
      .describe("Validate before the first step.")
      .meta(free),
    val_only: z
      .boolean()
      .default(false)
      .describe("Validate once and train nothing.")
      .meta(freeAndNeeds(validationData)),
    save_freq: count(0)
      .default(10)
      .describe("Save a checkpoint every so many steps; 0 only at the end.")
      .meta(free),
    seed: count(0)
      .max(2 ** 32 - 1)
      .default(0)
      .describe("Seed of everything random in the run."),
    project_name: words()
      .default("agent-trainer")
      .describe("A label, kept with the run.")
      .meta(free),
    experiment_name: words()
      .regex(/^[^/\\]*[^/\\.][^/\\]*$/u)
      .nullable()
      .default(null)
      .meta({ allowed: "a folder name, or null" })
      .describe("Name of the run folder; null makes one from the date.")
      .meta(free),
    output_dir: words().default("runs").describe("Folder that holds the run folders.").meta(free),
    max_failed_share: share()
      .default(0.5)
      .describe(
        "The run stops when more than this share of a step's rollouts failed; what the agent made fail after a model call had succeeded is scored and does not count.",
      )
      .meta(free),
    keep_checkpoints: count(1)
      .default(3)
      .describe("Checkpoints kept; older ones are deleted.")
      .meta(free),
    keep_best: z
      .boolean()
      .default(false)
      .describe("Save the step with the best validation so far, and keep it beside the newest.")
      .meta(freeAndNeeds(validationData)),
    best_metric: words()
      .regex(/^val\//u)
      .default("val/reward/mean")
      .meta({ allowed: "the name of a metric of validations, val/..." })
      .describe("What makes a validation the best: the highest value of this metric.")
      .meta(freeAndNeeds(validationData)),
  })
  .prefault({});
