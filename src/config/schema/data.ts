/** Options of how tasks are drawn. */
import { z } from "zod";
import { count, countOrAll, words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free, freeAndNeeds, needs, validationData } from "./option-meta.ts";

export const dataOptions: Section<"data"> = z
  .strictObject({
    train_batch_size: count(1)
      .default(16)
      .describe("Tasks per optimizer step.")
      .meta(
        needs({
          anyOf: [
            { option: "async_training.enable", is: [false] },
            { option: "async_training.mini_batch_size", is: [null] },
          ],
        }),
      ),
    val_batch_size: countOrAll()
      .default(-1)
      .describe("Validation tasks that run at a time; -1 is all of them.")
      .meta(freeAndNeeds(validationData)),
    max_prompt_length: count(1)
      .nullable()
      .default(null)
      .describe(
        "Most tokens of a prompt; a longer one ends its rollout. null is the model's context.",
      )
      .meta(free),
    seed: count(0)
      .nullable()
      .default(null)
      .describe("Seed of the order of tasks; null uses trainer.seed."),
    curriculum: z
      .enum(["none", "easy_first", "hard_first"])
      .default("none")
      .describe(
        "Order of the tasks of an epoch: shuffled, or by difficulty and shuffled where equal.",
      ),
    difficulty_key: words()
      .default("difficulty")
      .describe("Where a task's metadata holds its difficulty, a number; larger is harder.")
      .meta(needs({ option: "data.curriculum", not: "none" })),
  })
  .prefault({});
