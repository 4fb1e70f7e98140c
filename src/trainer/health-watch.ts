/** Watches the metrics of a run: warns once of each disease, and ends the run where an option says so. */
import { AgentTrainerError } from "../core/errors.ts";
import type { DiseaseName, HealthFinding } from "../core/health.ts";
import { examine } from "../health/find-problems.ts";
import { History } from "../health/history.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { Emit } from "./events.ts";
import { readMetricLines } from "./run-folder/metric-lines.ts";
import type { Phase } from "./run-folder/run-log.ts";
import { readWarned } from "./run-folder/run-health.ts";

function unhealthy(finding: HealthFinding, step: number): AgentTrainerError {
  const { disease, name, evidence, advice, doc } = finding;
  return new AgentTrainerError({
    code: "UNHEALTHY",
    message: `health.stop ends the run after step ${step}: ${name}: ${evidence}.`,
    hint: `${advice} Then resume, or take ${disease} out of health.stop; ${doc} explains it.`,
    fields: { step, disease, evidence },
  });
}

export interface HealthWatch {
  /**
   * To be called after the metrics of a step or a validation are in the run log.
   *
   * @throws AgentTrainerError UNHEALTHY where `health.stop` names what is found.
   */
  readonly see: (step: number, phase: Phase, metrics: Readonly<Record<string, number>>) => void;
}

/** A watch that knows what the run folder holds, so that a resumed run warns of nothing twice. */
export async function watchHealth(
  { enabled, stop }: TrainConfig["health"],
  folder: string,
  emit: Emit,
): Promise<HealthWatch> {
  if (!enabled) return { see: () => {} };
  const history = new History(await readMetricLines(folder));
  const warned = new Set<DiseaseName>((await readWarned(folder)).keys());
  const stops = new Set<DiseaseName>(stop);
  let isBroken = false;

  function find(step: number): readonly HealthFinding[] {
    try {
      return examine(history);
    } catch (error) {
      // An error of a rule must not end the run.
      isBroken = true;
      const reason = error instanceof Error ? error.message : String(error);
      emit(step, { type: "warning", message: `The watch over the run's health failed: ${reason}` });
      return [];
    }
  }

  return {
    see(step, phase, metrics) {
      if (isBroken) return;
      history.add({ step, phase, values: metrics });
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
