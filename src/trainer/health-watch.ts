/** Watches the metrics of a run: warns once of each disease, and ends the run where an option says so. */
import { AgentTrainerError } from "../core/errors.ts";
import { diseaseFacts, type DiseaseName, type HealthFinding } from "../core/health.ts";
import { examine } from "../runs/health/find-problems.ts";
import { History } from "../runs/health/history.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { Emit } from "./events.ts";
import { readMetricLines } from "../runs/metric-lines.ts";
import type { Phase } from "../runs/run-log.ts";
import { readWarned } from "../runs/run-health.ts";

function unhealthy(finding: HealthFinding, step: number): AgentTrainerError {
  const { disease, name, evidence, advice, doc } = finding;
  return new AgentTrainerError({
    code: "UNHEALTHY",
    message: `health.stop ends the run after step ${step}: ${name}: ${evidence}.`,
    hint: `${advice} Then resume, or take ${disease} out of health.stop; ${doc} explains it.`,
    fields: { step, disease, evidence },
  });
}

function resumedNotice(diseases: readonly DiseaseName[], step: number): string {
  const names = diseases.map((disease) => `"${diseaseFacts[disease].title}"`).join(", ");
  return `The run has warned of ${names} up to step ${step}. What those steps show does not end it again: health.stop looks at the steps from here on.`;
}

export interface HealthWatch {
  /**
   * To be called after the metrics of a step or a validation are in the run log.
   *
   * @throws AgentTrainerError UNHEALTHY where `health.stop` names what is found.
   */
  readonly see: (step: number, phase: Phase, metrics: Readonly<Record<string, number>>) => void;
}

/**
 * A watch that knows what the run folder holds, so that a resumed run warns of nothing twice. Nor does it end
 * for what it showed before: the user resumed it because the cause is repaired, or to be told again.
 */
export async function watchHealth(
  { enabled, stop }: TrainConfig["health"],
  folder: string,
  emit: Emit,
): Promise<HealthWatch> {
  if (!enabled) return { see: () => {} };
  const lines = await readMetricLines(folder);
  const before: ReadonlySet<DiseaseName> = new Set((await readWarned(folder)).keys());
  const history = new History(lines);
  const sinceResume = before.size === 0 ? null : new History(lines);
  sinceResume?.forget();
  const warned = new Set(before);
  const stops = new Set<DiseaseName>(stop);
  const newest = lines.at(-1)?.step ?? 0;
  const again = stop.filter((disease) => before.has(disease));
  if (again.length > 0) emit(newest, { type: "notice", message: resumedNotice(again, newest) });
  let isBroken = false;

  function find(now: number): readonly HealthFinding[] {
    try {
      const found = examine(history).filter(({ disease }) => !before.has(disease));
      const shownAgain = sinceResume === null ? [] : examine(sinceResume);
      return [...found, ...shownAgain.filter(({ disease }) => before.has(disease))];
    } catch (error) {
      // An error of a rule must not end the run.
      isBroken = true;
      const reason = error instanceof Error ? error.message : String(error);
      emit(now, { type: "warning", message: `The watch over the run's health failed: ${reason}` });
      return [];
    }
  }

  return {
    see(step, phase, metrics) {
      if (isBroken) return;
      const line = { step, phase, values: metrics };
      history.add(line);
      sinceResume?.add(line);
      const found = find(step);
      for (const finding of found) {
        if (warned.has(finding.disease)) continue;
        warned.add(finding.disease);
        emit(step, { type: "health", finding });
      }
      const fatal = found.find(({ disease }) => stops.has(disease));
      if (fatal !== undefined) throw unhealthy(fatal, step);
    },
  };
}
