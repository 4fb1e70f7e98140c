/** The options of `agent-trainer improve`: which model, which data, how to train, and when it is good enough. */
import { z } from "zod";
import { integer, nonEmptyString, seedNumber } from "../schema/kinds.ts";

const path = (what: string) => nonEmptyString().describe(what);
const optional = (what: string) => nonEmptyString().nullable().default(null).describe(what);
const limit = (what: string) =>
  z.number().gt(0).nullable().default(null).describe(`${what}; null is no limit.`);

const collect = z
  .strictObject({
    store: nonEmptyString()
      .default("production")
      .describe("Folder that agent-trainer collect or serve --store fills."),
    files: z
      .array(nonEmptyString())
      .default([])
      .describe(
        "Files to add to it at the beginning of each round; what it has already is passed over.",
      ),
    format: optional("Format of these files, as collect --format; null where there are none."),
  })
  .prefault({});

const curate = z
  .strictObject({
    feedback: z
      .enum(["new", "all"])
      .default("new")
      .describe(
        "Whether a round learns from feedback that no earlier round has taken, or from all.",
      ),
    split: z
      .enum(["user", "time"])
      .default("user")
      .describe("What is held out: whole users, or the newest conversations."),
    val_fraction: z.number().min(0).max(0.9).default(0.1).describe("How much is held out."),
    outcome: optional("An outcome of feedback that is a score too; null is none."),
    rating: optional("Name of the scores that are ratings; null is those whose name says so."),
    unrated: z
      .boolean()
      .default(false)
      .describe("Whether answers without feedback are demonstrations too."),
    scrub: optional("Function that sees every text before it is written: FILE or FILE#EXPORT."),
    min_rows: integer(1)
      .default(32)
      .describe("Rows that a round needs to train; with fewer, they are left for the next one."),
  })
  .prefault({});

const train = z
  .strictObject({
    with: z
      .enum(["kto", "sft", "dpo", "rl"])
      .default("kto")
      .describe(
        "What is learned: from good and bad answers (kto), from good ones (sft), from corrections (dpo), or by rollouts of the agent at what was asked (rl).",
      ),
    overrides: z
      .array(nonEmptyString())
      .default([])
      .describe("Options of config for training alone, each as key=value."),
  })
  .prefault({});

const gate = z
  .strictObject({
    held_out: optional("Held-out tasks; null takes dataset.val of config."),
    n: integer(1)
      .nullable()
      .default(null)
      .describe("Attempts at each task; null takes rollout.n_val."),
    min_gain: z.number().default(0).describe("Gain that the 95 % interval must lie above."),
    slices: z
      .array(nonEmptyString())
      .default(["data_source"])
      .describe("Fields of tasks; the tasks of each value of one are a slice."),
    max_slice_loss: z.number().min(0).default(0.05).describe("Mean reward that a slice may lose."),
    min_slice_tasks: integer(1).default(6).describe("Slices of fewer tasks decide nothing."),
    max_regressions: integer(0).default(0).describe("Tasks of regressions that may be lost."),
    max_cost: limit("Cost per attempt, as a multiple of that of the model in use"),
    max_latency: limit("Time per attempt, as a multiple of that of the model in use"),
    regressions: optional(
      "JSONL file of tasks that must stay solved; what a better model newly solves is added. null is none.",
    ),
    seed: seedNumber().default(0).describe("Random seed of the intervals."),
  })
  .prefault({});

/** What the file has. */
export interface ImproveOptions {
  readonly config: string;
  readonly folder: string;
  readonly collect: {
    readonly store: string;
    readonly files: string[];
    readonly format: string | null;
  };
  readonly curate: {
    readonly feedback: "new" | "all";
    readonly split: "user" | "time";
    readonly val_fraction: number;
    readonly outcome: string | null;
    readonly rating: string | null;
    readonly unrated: boolean;
    readonly scrub: string | null;
    readonly min_rows: number;
  };
  readonly train: {
    readonly with: "kto" | "sft" | "dpo" | "rl";
    readonly overrides: string[];
  };
  readonly gate: {
    readonly held_out: string | null;
    readonly n: number | null;
    readonly min_gain: number;
    readonly slices: string[];
    readonly max_slice_loss: number;
    readonly min_slice_tasks: number;
    readonly max_regressions: number;
    readonly max_cost: number | null;
    readonly max_latency: number | null;
    readonly regressions: string | null;
    readonly seed: number;
  };
}

export const improveSchema: z.ZodType<ImproveOptions> = z.strictObject({
  config: path("YAML file with the model, the agent, the evaluator, and the options of training."),
  folder: nonEmptyString()
    .default("improve")
    .describe("Folder of the rounds; what a round hands over is served from it."),
  collect,
  curate,
  train,
  gate,
});

/** For messages, help and docs. */
export function improveJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(improveSchema, { io: "input" });
}
