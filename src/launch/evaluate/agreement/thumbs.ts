/** Whether an evaluator says of rated answers what people said: before anything is trained. */
import { join } from "node:path";
import { z } from "zod";
import type { Evaluator } from "../../../core/agent.ts";
import { ConfigError } from "../../../core/errors.ts";
import type { Task } from "../../../core/task.ts";
import { readLines } from "../../../datasets/files/json-lines-file.ts";
import { requireFile } from "../../../datasets/files/require-file.ts";
import { mapConcurrent } from "../../../util/concurrency.ts";
import { parseObject } from "../../../util/json-object.ts";
import { createRandom } from "../../../util/random.ts";
import { probeEpisode } from "../reward-doctor/probe-episode.ts";
import { scoreProbe } from "../reward-doctor/score-probe.ts";
import { type Agreement, agreementOf } from "./kappa.ts";

const message = z.looseObject({ role: z.string(), content: z.string().nullable().default("") });
const row = z.looseObject({
  prompt: z.array(message),
  completion: z.array(message).min(1),
  label: z.boolean(),
});
type Row = z.infer<typeof row>;

export interface ThumbsOptions {
  /** What `agent-trainer curate` made. */
  readonly folder: string;
  readonly evaluator: Evaluator;
  /** Rated answers that are scored, a random choice of them. */
  readonly sample: number;
  readonly seed: number;
  /** Scores at the same time. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** From this reward on an answer is good, where the evaluator does not say whether it is correct. */
  readonly good: number;
  readonly signal: AbortSignal;
}

export interface ThumbsReport extends Agreement {
  /** Answers that the evaluator failed on. */
  readonly failed: number;
  /** The first failure, in words. */
  readonly error: string | null;
}

/** A uniform choice of so many rows in one reading (Vitter's algorithm R). */
function choose({ folder, sample, seed }: ThumbsOptions): readonly Row[] {
  const file = join(folder, "feedback.jsonl");
  requireFile(file, "folder", "Make it first: agent-trainer curate production --output curated");
  const random = createRandom(seed);
  const rows: Row[] = [];
  let rated = 0;
  for (const { text, number } of readLines(file)) {
    if (text.trim() === "") continue;
    const at = rated < sample ? rated : Math.floor(random() * (rated + 1));
    rated++;
    if (at >= sample) continue;
    const read = row.safeParse(parseObject(text));
    if (!read.success) {
      throw new ConfigError({
        message: `${file}:${number} is no rated answer: ${z.prettifyError(read.error)}`,
        fields: { file, line: number },
      });
    }
    rows[at] = read.data;
  }
  return rows;
}

function taskOf({ prompt, completion: _said, label: _label, ...rest }: Row, index: number): Task {
  const instruction = prompt.findLast(({ role }) => role === "user")?.content ?? "";
  return { id: `rated-${index}`, instruction, metadata: { ...rest, messages: prompt } };
}

/** @throws ConfigError where there are no rated answers; the signal's reason */
export async function compareWithThumbs(options: ThumbsOptions): Promise<ThumbsReport> {
  const { evaluator, concurrency, timeoutMs, good, signal } = options;
  const rows = choose(options);
  if (rows.length === 0) {
    throw new ConfigError({
      message: `${options.folder} has no rated answers, so nothing says whether the evaluator is right.`,
      hint: "Collect some thumbs: see docs/production.md#feedback.",
      fields: { folder: options.folder },
    });
  }
  const scored = await mapConcurrent(
    [...rows.entries()],
    concurrency,
    async ([index, one]) => {
      const text = one.completion.at(-1)?.content ?? "";
      const episode = probeEpisode(taskOf(one, index), text, undefined);
      const found = await scoreProbe({ evaluator, timeoutMs, signal }, "rated", text, episode);
      return { ...found, label: one.label };
    },
    signal,
  );
  const counts = { bothGood: 0, rewardOnly: 0, thumbOnly: 0, bothBad: 0 };
  for (const { error, reward, isCorrect, label } of scored) {
    if (error !== undefined) continue;
    const isGood = isCorrect ?? (reward ?? 0) >= good;
    counts[isGood ? (label ? "bothGood" : "rewardOnly") : label ? "thumbOnly" : "bothBad"]++;
  }
  const failed = scored.filter(({ error }) => error !== undefined);
  return {
    ...agreementOf(counts),
    failed: failed.length,
    error: failed[0]?.error ?? null,
  };
}

const fixed = (value: number): string => value.toFixed(3);

/** In one sentence. */
export function agreementText({ n, accuracy, kappa, low, high }: Agreement): string {
  const chance =
    kappa === null || low === null || high === null
      ? "kappa is unknown, since one of both always says the same"
      : `kappa ${fixed(kappa)} (95 % interval ${fixed(low)} to ${fixed(high)})`;
  return `the evaluator agrees with ${(100 * accuracy).toFixed(1)} % of ${n} thumbs, ${chance}`;
}
