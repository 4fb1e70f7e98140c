/** Patterns of a schema on texts that a model wrote: linear, and read as the grammar reads them. */
import { includes } from "../strings/language.ts";
import { patternLanguage } from "../strings/regex.ts";
import { GrammarLimitError, WorkBudget } from "../work-budget.ts";

/** Whether a text matches; further work than a step for each character is counted. */
export type PatternTest = (text: string, budget: WorkBudget) => boolean;

/** Steps that the states of one pattern may take before they are forgotten. */
const statesLimit = 200_000;

/** @throws RangeError or SyntaxError saying what is not supported; GrammarLimitError. */
export function patternTest(pattern: string, reading: WorkBudget): PatternTest {
  let states = new WorkBudget(statesLimit);
  let language = patternLanguage(pattern, states);
  reading.spend(states.spent);
  return (text, budget) => {
    const before = states.spent;
    try {
      const found = includes(language, text);
      budget.spend(states.spent - before);
      return found;
    } catch (error) {
      if (!(error instanceof GrammarLimitError)) throw error;
      budget.spend(statesLimit);
    }
    states = new WorkBudget(statesLimit);
    language = patternLanguage(pattern, states);
    const found = includes(language, text);
    budget.spend(states.spent);
    return found;
  };
}
