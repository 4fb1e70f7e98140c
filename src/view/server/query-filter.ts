/** The filter that a URL names. What is not understood is refused, so that no filter is silently ignored. */
import { z } from "zod";
import type { EpisodeFilter } from "../api/episodes.ts";

const number = z.string().trim().min(1).transform(Number).pipe(z.number());
const whole = number.pipe(z.number().int().min(0));

const query = z.strictObject({
  phase: z.enum(["train", "validation", "evaluation"]).optional(),
  step: whole.optional(),
  task: z.string().optional(),
  ended: z.string().optional(),
  minReward: number.optional(),
  maxReward: number.optional(),
  text: z.string().max(1000).optional(),
  only: z.enum(["tool-errors", "errors", "truncated", "malformed", "incorrect"]).optional(),
  before: whole.optional(),
});

export interface FilterQuery {
  readonly filter: EpisodeFilter;
  readonly before: number | null;
}

/** Empty values count as not given. Returns what is wrong as a string. */
export function parseFilter(given: Readonly<Record<string, string>>): FilterQuery | string {
  const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  const parsed = query.safeParse(filled);
  if (!parsed.success)
    return parsed.error.issues
      .map(({ path, message }) => `${path.join(".")}: ${message}`)
      .join("; ");
  const { before, ...rest } = parsed.data;
  return { filter: rest as EpisodeFilter, before: before ?? null };
}
