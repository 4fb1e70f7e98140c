/** The families as a table in benchmarks/NOTES.md, between two marks, and as curves; those of before stay. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../test/integration/root.ts";
import { drawCurves } from "./curves.ts";
import { families } from "./families.ts";
import type { Mean, Row } from "./measure.ts";

const page = join(root, "benchmarks", "NOTES.md");
const data = join(root, "docs", "reasoning-gym.json");
const picture = join(root, "docs", "reasoning-gym.svg");
const [begin, end] = ["<!-- reasoning-gym: begin -->", "<!-- reasoning-gym: end -->"];

interface Recorded {
  readonly setup: object;
  readonly machine: object;
  readonly families: readonly Row[];
}

/** A smaller gain may be real, but is no skill. */
const leastGain = 0.05;

/** Held-out rewards rose by at least that, and by more than two standard errors of the paired differences. */
export const isLearned = ({ gain: { mean, error } }: Row): boolean =>
  mean > 2 * error && mean >= leastGain;

const number = ({ mean }: Mean): string => mean.toFixed(2);
const signed = ({ mean, error }: Mean): string =>
  `${mean < 0 ? "−" : "+"}${Math.abs(mean).toFixed(2)} ± ${error.toFixed(2)}`;

const line = (row: Row): string =>
  `| ${[
    row.family,
    number(row.published),
    row.exampleSteps === 0 ? "" : number(row.before),
    number(row.after),
    signed(row.gain),
    isLearned(row) ? "yes" : "no",
    number(row.constant),
    row.seconds,
  ].join(" | ")} |`;

/** Its mean is above that of the best constant by more than two standard errors. */
const isAboveConstant = ({ after, constant }: Row): boolean =>
  after.mean - constant.mean > 2 * after.error;

/** Families that were measured before. */
export function recorded(): readonly Row[] {
  return existsSync(data) ? (JSON.parse(readFileSync(data, "utf8")) as Recorded).families : [];
}

/** Adds a family, or replaces it, and writes everything anew. */
export function record(row: Row | null, about: Omit<Recorded, "families">): void {
  const merged = new Map(recorded().map((one) => [one.family, one]));
  if (row !== null) merged.set(row.family, row);
  const rows = [...merged.values()].toSorted((a, b) => b.gain.mean - a.gain.mean);
  writeFileSync(data, `${JSON.stringify({ ...about, families: rows }, null, 1)}\n`);
  writeFileSync(picture, drawCurves(rows));
  const learned = rows.filter(isLearned);
  const above = learned.filter(isAboveConstant).length;
  const left = Object.keys(families).filter((name) => !merged.has(name));
  const table = [
    `${learned.length} of ${rows.length} families are learned, ${above} of them to more than the best constant:`,
    "",
    "| family | published | after examples | after rollouts | gain | learned | best constant | seconds |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map(line),
    ...(left.length === 0 ? [] : ["", `Not measured yet: ${left.join(", ")}.`]),
    "",
    "![Mean reward of the rollouts of each step, a picture for each family](../docs/reasoning-gym.svg)",
  ].join("\n");
  const text = readFileSync(page, "utf8");
  const [head] = text.split(begin);
  const [, tail] = text.split(end);
  writeFileSync(page, `${head}${begin}\n\n${table}\n\n${end}${tail}`);
}
