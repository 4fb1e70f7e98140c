/** Options of the datasets, and of the order and number of tasks. */
import { z } from "zod";
import {
  integer,
  integerOrAll,
  nonEmptyString,
  type Section,
  tokenCount,
  taskCount,
  seedNumber,
} from "./kinds.ts";
import { free, freeAndNeeds, needs, validationData } from "./option-meta.ts";
import { oneOf } from "./variants.ts";

const byDifficulty = {
  difficulty_key: nonEmptyString()
    .default("difficulty")
    .describe("Key of the difficulty in a task's metadata: a number, larger is harder."),
};

const bySolveRate = {
  group_key: nonEmptyString()
    .nullable()
    .default(null)
    .describe(
      "Key of a task's metadata: tasks with the same value share an estimate of their solve rate. null is an estimate for each task, which needs rollouts of that task.",
    ),
};

export const dataOptions: Section<"data", "seed"> = z
  .strictObject({
    train_batch_size: taskCount(1)
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
    val_batch_size: integerOrAll()
      .default(-1)
      .describe("Validation tasks that run at the same time; -1 is all of them.")
      .meta(freeAndNeeds(validationData)),
    max_prompt_length: tokenCount(1)
      .nullable()
      .default(null)
      .describe(
        "Maximum tokens of the prompt of one model call; a longer one ends its rollout. null is the model's context length.",
      )
      .meta(free),
    seed: seedNumber()
      .nullable()
      .default(null)
      .describe("Seed of the order of the training tasks; null is trainer.seed.")
      .meta({ inherits: "trainer.seed" }),
    curriculum: oneOf(
      {
        none: {},
        easy_first: byDifficulty,
        hard_first: byDifficulty,
        solve_rate: bySolveRate,
      },
      "none",
      {
        description:
          "Order of the tasks: none shuffles those of an epoch, easy_first and hard_first sort them by difficulty and shuffle equal ones, solve_rate takes those that teach most by the solve rates observed so far, without epochs.",
      },
    ),
  })
  .prefault({});

/** `{instruction: question}` or `["instruction=question"]` → `["instruction=question"]`. Names are those of the data, so their case must stay. */
const fieldMap = (): z.ZodPrefault<z.ZodType<readonly string[]>> =>
  z
    .union([
      z
        .record(z.string().regex(/^[^=]+$/u), z.string().min(1))
        .transform((map) => Object.entries(map).map(([name, field]) => `${name}=${field}`)),
      z.array(z.string().regex(/^[^=]+=.+$/u)),
    ])
    .prefault([])
    .meta({
      allowed: "a map of names to fields of the rows, or a list of name=field",
      tsType: "readonly string[]",
      exampleValues: [["instruction=prompt"]],
    });

/** Where a dataset is; a map that names one on a hub is stored as `hf:...`. */
const source = (): z.ZodType<string> =>
  z
    .union([
      nonEmptyString(),
      z
        .strictObject({
          hub: z.string().regex(/^[\w-][\w.-]*\/[\w-][\w.-]*$/u),
          config: nonEmptyString().optional(),
          split: nonEmptyString().optional(),
          revision: nonEmptyString().optional(),
        })
        .transform(({ hub, config, split, revision }) => {
          const at = revision === undefined ? "" : `@${encodeURIComponent(revision)}`;
          const name = `hf:${hub}${at}${config === undefined ? "" : `/${config}`}`;
          return split === undefined ? name : `${name}:${split}`;
        }),
    ])
    .meta({
      allowed: "a non-empty string, or a map with hub",
      tsType: "string",
      exampleValues: ["tasks.jsonl"],
    });

const entry = {
  train: nonEmptyString()
    .nullable()
    .default(null)
    .describe("Training dataset, as in `dataset.train`; null where `env` has the tasks."),
  val: nonEmptyString()
    .nullable()
    .default(null)
    .describe("Validation dataset, as in `dataset.val`; null is no validation on this source."),
  weight: z
    .number()
    .gt(0)
    .max(1_000_000)
    .default(1)
    .describe("Share of the tasks of each step, relative to the other sources'. Above 0."),
  limit: integer(1)
    .nullable()
    .default(null)
    .describe("Most training tasks, and most validation tasks; null is all."),
  evaluator: nonEmptyString()
    .nullable()
    .default(null)
    .describe("Scores its tasks, as in `evaluator`; null is that of the run or the environment."),
  env: nonEmptyString().nullable().default(null).describe("Environment of its tasks, as in `env`."),
  split: nonEmptyString()
    .default("train")
    .describe("Split of `env` whose tasks are trained on, where `train` is null."),
};

/** A source is named by its key, or by `name` in a list; slashes are between its name and the ids of tasks. */
const sources = () => {
  const name = z
    .string()
    .regex(/^[^/]+$/u)
    .describe("Of the source, and `metadata.data_source` of its tasks.");
  const has = ({ train, env }: { train: string | null; env: string | null }): boolean =>
    train !== null || env !== null;
  const unique = (list: readonly { readonly name: string }[]): boolean =>
    new Set(list.map((one) => one.name)).size === list.length;
  return z
    .union([
      z
        .record(name, z.strictObject(entry).refine(has))
        .transform((map) => Object.entries(map).map(([key, one]) => ({ name: key, ...one }))),
      z.array(z.strictObject({ name, ...entry }).refine(has)),
    ])
    .refine(unique)
    .prefault([])
    .meta({
      allowed:
        "a map of names to maps of train or env, and weight, val, limit, evaluator and split, or a list of these with name",
      tsType: "readonly DataSource[]",
      exampleValues: [[{ name: "math", train: "math.jsonl" }]],
    });
};

const files = "a .jsonl, .json, .csv, .tsv or .parquet file";

export const datasetOptions: Section<"dataset"> = z
  .strictObject({
    train: source()
      .nullable()
      .prefault(null)
      .describe(
        `Training dataset: ${files}, hf:OWNER/NAME[@REVISION][/CONFIG][:SPLIT] or a map with hub, config, split and revision for one on a hub, or path#export of a module; null only where code passes the tasks.`,
      )
      .meta(free),
    val: source()
      .nullable()
      .prefault(null)
      .describe(
        `Validation dataset, as in dataset.train; null is no validation, unless code passes the tasks or dataset.val_fraction is set.`,
      )
      .meta(free),
    sources: sources().describe(
      "Several sources of training tasks in place of dataset.train: each a dataset (train, val) or an environment (env, split). weight is its exact share of the tasks of each step, limit its most tasks, evaluator what scores its tasks. The name becomes metadata.data_source of its tasks.",
    ),
    fields: fieldMap().describe(
      "Fields of a task, and the field of the rows that each is read from, as in {instruction: question, answer: solution}; dots lead into maps and lists. Rows keep their other fields.",
    ),
    skip_bad_rows: z
      .boolean()
      .default(false)
      .describe(
        "Skip rows that cannot be used, and count them in a warning; false stops the run before it starts.",
      ),
    deduplicate: z
      .boolean()
      .default(false)
      .describe(
        "Remove tasks that an earlier task of the same dataset is equal to, but for case and white space.",
      ),
    val_fraction: z
      .number()
      .min(0)
      .lt(1)
      .default(0)
      .describe(
        "Fraction of the training tasks to hold out for validation, picked at random, the same ones for every seed; 0 is none.",
      )
      .meta(needs({ option: "dataset.val", is: [null] })),
    shard: z
      .string()
      .regex(/^\d+\/[1-9]\d*$/u)
      .nullable()
      .default(null)
      .describe(
        "Part of the training tasks to use, as index/count with the index from 0: 0/4 is every fourth task from the first one; null is all.",
      )
      .meta({ allowed: "index/count such as 0/4, or null", exampleValues: ["0/4"] }),
    limit: integer(1)
      .nullable()
      .default(null)
      .describe("Maximum number of training tasks; null is all."),
    val_limit: integer(1)
      .nullable()
      .default(null)
      .describe("Maximum number of validation tasks; null is all.")
      .meta(freeAndNeeds(validationData)),
    leak_check: z
      .boolean()
      .default(true)
      .describe(
        "Search for validation tasks that are also training tasks, but for case and white space, and warn with examples.",
      )
      .meta(free),
  })
  .prefault({});
