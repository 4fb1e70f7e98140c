/** Means and standard errors over seeds, for each way to store the base. */
import { mean, populationStd } from "../../src/algorithms/statistics.ts";

export interface CurveRun {
  readonly quantization: string;
  readonly seed: number;
  /** Mean reward of the rollouts of each step. */
  readonly training: readonly number[];
  /** Mean reward of each validation, the one before training first. */
  readonly validation: readonly number[];
}

export interface CurveSummary {
  readonly seeds: number;
  readonly before: number;
  /** After the last step. */
  readonly after: number;
  readonly afterStandardError: number | null;
  readonly lowest: number;
}

export function summarize(runs: readonly CurveRun[]): Record<string, CurveSummary> {
  const kinds = [...new Set(runs.map(({ quantization }) => quantization))];
  return Object.fromEntries(
    kinds.map((kind) => {
      const own = runs.filter(({ quantization }) => quantization === kind);
      const last = own.map(({ validation }) => validation.at(-1) ?? Number.NaN);
      return [
        kind,
        {
          seeds: own.length,
          before: mean(own.map(({ validation }) => validation[0] ?? Number.NaN)),
          after: mean(last),
          afterStandardError:
            last.length > 1 ? populationStd(last) / Math.sqrt(last.length - 1) : null,
          lowest: Math.min(...last),
        },
      ];
    }),
  );
}
