/** Options of the order and number of tasks. */
import { z } from "zod";
import { count, countOrAll, words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free, freeAndNeeds, needs, validationData } from "./option-meta.ts";

export const dataOptions: Section<"data"> = z
  .strictObject({
    train_batch_size: count(1)
      .default(16)
      .describe("Tasks per step; each is rolled out rollout.n times.")
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
      .describe("Validation tasks that run at the same time; -1 is all of them.")
      .meta(freeAndNeeds(validationData)),
    max_prompt_length: count(1)
      .nullable()
      .default(null)
      .describe(
        "Maximum tokens of the prompt of one model call; a longer one ends its rollout. null is the model's context length.",
      )
      .meta(free),
    seed: count(0)
      .nullable()
      .default(null)
      .describe("Seed of the order of the training tasks; null is trainer.seed."),
    curriculum: z
      .enum(["none", "easy_first", "hard_first"])
      .default("none")
      .describe(
        "Order of the tasks of an epoch: none shuffles them, easy_first and hard_first sort them by difficulty_key and shuffle equal ones.",
      ),
    difficulty_key: words()
      .default("difficulty")
      .describe(
        "Key of the difficulty in a task's metadata, for data.curriculum: a number, larger is harder.",
      )
      .meta(needs({ option: "data.curriculum", not: "none" })),
  })
  .prefault({});
