/** What is wrong with a recorded run: what its metrics show now, and what it warned of as it went. */
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  diseaseFacts,
  type DiseaseName,
  diseaseNames,
  type HealthFinding,
  type RunFinding,
} from "../core/health.ts";
import { findProblems } from "./health/find-problems.ts";
import { readMetricLines } from "./metric-lines.ts";
import { readOptions } from "./read-options.ts";

type Warned = ReadonlyMap<DiseaseName, { readonly step: number; readonly finding: HealthFinding }>;

/** Events of the type `health` in `events.jsonl`, by disease. */
export async function readWarned(folder: string): Promise<Warned> {
  const path = join(folder, "events.jsonl");
  const warned = new Map<DiseaseName, { step: number; finding: HealthFinding }>();
  if (!existsSync(path)) return warned;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (!line.includes('"type":"health"')) continue;
    try {
      const { type, step, finding } = JSON.parse(line) as {
        readonly type: string;
        readonly step: number;
        readonly finding: HealthFinding;
      };
      if (type === "health" && diseaseNames.includes(finding.disease))
        warned.set(finding.disease, { step, finding });
    } catch {
      // Being written right now, or cut off by a kill.
    }
  }
  return warned;
}

/**
 * Reads what is wrong with a run from its folder, without changing it: what its newest metrics show, then
 * what it warned of earlier.
 *
 * @param folder Folder of the run.
 * @returns problems before warnings, of each what the run warned of first; empty where no rule found anything.
 *
 * @example
 * for (const { name, evidence, isCurrent } of await readRunHealth("runs/shop"))
 *   console.log(isCurrent ? "now" : "earlier", name, evidence);
 */
export async function readRunHealth(folder: string): Promise<readonly RunFinding[]> {
  const warned = await readWarned(folder);
  const given = readOptions(folder);
  const options = (disease: DiseaseName) =>
    Object.fromEntries(
      (diseaseFacts[disease].options ?? []).flatMap((key) => {
        const value = given.get(key);
        return value === undefined ? [] : [[key, value] as const];
      }),
    );
  const current = findProblems(await readMetricLines(folder)).map((finding) => ({
    ...finding,
    warnedAt: warned.get(finding.disease)?.step ?? null,
    isCurrent: true,
    options: options(finding.disease),
  }));
  // What began first is more often the cause.
  const began = ({ severity, warnedAt }: RunFinding): number =>
    (severity === "problem" ? 0 : 1e12) + (warnedAt ?? 1e11);
  const names = new Set(current.map(({ disease }) => disease));
  const earlier = [...warned.values()].flatMap(({ step, finding }) =>
    names.has(finding.disease)
      ? []
      : [{ ...finding, warnedAt: step, isCurrent: false, options: options(finding.disease) }],
  );
  return [...current.toSorted((a, b) => began(a) - began(b)), ...earlier];
}
