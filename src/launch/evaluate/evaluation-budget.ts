/** What an evaluation may spend: the budget of a run, except that nothing is trained. */
import type { TrainConfig } from "../../config/train-config.ts";
import { Budget } from "../../trainer/budget/budget.ts";
import { checkPrices, runPrices } from "../../trainer/budget/run-prices.ts";
import { spentBefore, writeSpent } from "../../trainer/budget/spent-file.ts";
import type { LocatedModel } from "./locate-model.ts";

/**
 * @param folder where the evaluation is recorded; null: nowhere
 * @param isResumed whether what earlier processes spent counts, too
 * @throws ConfigError when `budget.usd` is set, but nothing says what the evaluation costs.
 */
export function evaluationBudget(
  config: TrainConfig,
  located: LocatedModel,
  folder: string | null,
  isResumed: boolean,
): Budget {
  const { tokens, usd, minutes, prices } = config.budget;
  const untrained = {
    ...config,
    budget: { ...config.budget, prices: { ...prices, trained: prices.trained ?? 0 } },
  };
  // Published prices are those of backends.
  const isTarget = located.kind === "target";
  const backend = isTarget ? "endpoint" : config.backend;
  checkPrices(untrained, backend, isTarget ? located.label : undefined);
  return new Budget({
    what: "evaluation",
    ...{ tokens, usd, minutes, prices: runPrices(untrained, backend)?.prices ?? null },
    ...(folder === null
      ? {}
      : {
          before: isResumed ? spentBefore(folder) : undefined,
          keep: (spending) => writeSpent(folder, spending),
        }),
  });
}
