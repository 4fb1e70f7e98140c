/** Options of learning from examples: `agent-trainer sft`, `dpo` and `kto`. */
import { z } from "zod";
import { integer, nonEmptyString, type Section, tokenCount } from "./kinds.ts";
import { free, needs } from "./option-meta.ts";
import { oneOf } from "./variants.ts";

const dpo = {
  beta: z
    .number()
    .gt(0)
    .default(0.1)
    .describe(
      "β of DPO and KTO: how strongly the policy is kept near the initial weights; TRL's default is 0.1.",
    )
    .meta({ resume: "fixed" }),
};
const weight = (of: string) =>
  z
    .number()
    .gt(0)
    .default(1)
    .describe(
      `KTO's weight of the loss of ${of} examples, where there are not as many of both kinds.`,
    )
    .meta({ resume: "fixed" });
const kto = {
  ...dpo,
  desirable_weight: weight("desirable"),
  undesirable_weight: weight("undesirable"),
};
const hasRun = { option: "fine_tuning.from_run", not: null };

export const fineTuningOptions: Section<"fineTuning"> = z
  .strictObject({
    loss: oneOf({ sft: {}, dpo, kto }, "sft", {
      description:
        "What is learned from examples: sft is the cross-entropy of the assistant's tokens, dpo prefers the chosen of two responses (arXiv:2305.18290), kto learns from responses that are each labelled as desirable or not (arXiv:2402.01306).",
      resume: "never",
    }),
    train: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Examples to fine-tune on, as in dataset.train: conversations for sft, pairs with chosen and rejected for dpo, conversations with a label for kto. null only with fine_tuning.from_run, or where code passes them.",
      )
      .meta(free),
    val: nonEmptyString()
      .nullable()
      .default(null)
      .describe("Held-out examples for the validation loss, as fine_tuning.train; null is none.")
      .meta(free),
    val_fraction: z
      .number()
      .min(0)
      .lt(1)
      .default(0)
      .describe(
        "Fraction of the examples to hold out for the validation loss, picked at random by data.seed; 0 is none.",
      )
      .meta(needs({ option: "fine_tuning.val", is: [null] })),
    rewards: z
      .boolean()
      .default(false)
      .describe(
        "Whether each validation also runs the agent on the tasks of dataset.val: val/reward/mean and others are measured next to the loss, and trainer.best_metric decides which checkpoint is the best and when to stop early.",
      )
      .meta(free),
    from_run: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Folder of a run or an evaluation whose recorded episodes are the examples: the good ones for sft, the best and the worst of each task for dpo, good and bad ones for kto.",
      ),
    min_reward: z
      .number()
      .nullable()
      .default(null)
      .describe(
        "Minimum reward of an episode of fine_tuning.from_run, with kto of a desirable one; null takes those that the evaluator called correct, and for dpo every task with different rewards.",
      )
      .meta(needs(hasRun)),
    train_on: z
      .enum(["all", "last"])
      .default("all")
      .describe(
        "Assistant messages that are trained on: all of a conversation, or the last. A message with weight 0 is context in either case.",
      ),
    max_length: tokenCount(2)
      .nullable()
      .default(null)
      .describe(
        "Maximum tokens of an example; longer ones are left out and counted in a warning. null is the model's context length.",
      ),
    skip_bad_rows: z
      .boolean()
      .default(false)
      .describe(
        "Skip examples that cannot be used, and count them in a warning; false stops the run before it starts.",
      ),
    patience: integer(0)
      .default(0)
      .describe(
        "Consecutive validations without a lower loss after which fine-tuning stops; 0 takes trainer.early_stopping_patience.",
      )
      .meta(free),
  })
  .prefault({});
