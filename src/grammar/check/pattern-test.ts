/** Patterns of a schema on texts that a model wrote: linear, and read as the grammar reads them. */
import { includes, type Language } from "../strings/language.ts";
import { patternLanguage } from "../strings/regex.ts";
import { GrammarLimitError, WorkBudget } from "../work-budget.ts";

/** Whether a text matches; further work than a step for each character is counted. */
export type PatternTest = (text: string, budget: WorkBudget) => boolean;

/** Steps that the states of one pattern may take before they are forgotten. */
const statesLimit = 200_000;

/** A step of reading a pattern takes as long as so many of a check. */
const readingWeight = 4;

function readPattern(pattern: string, states: WorkBudget, reading: WorkBudget): Language {
  try {
    return patternLanguage(pattern, states);
  } finally {
    // Also of one that is not supported, which was read up to there.
    reading.spend(readingWeight * states.spent);
  }
}

/** @throws RangeError or SyntaxError saying what is not supported; GrammarLimitError. */
export function patternTest(pattern: string, reading: WorkBudget): PatternTest {
  let states = new WorkBudget(statesLimit);
  let language = readPattern(pattern, states, reading);
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

/**
 * Likewise, but any text matches what is not supported. The compiler of grammars names only what it reaches, and
 * not, for example, a pattern next to one that no text matches.
 */
export function supportedPatternTest(pattern: string, reading: WorkBudget): PatternTest {
  try {
    return patternTest(pattern, reading);
  } catch (error) {
    if (error instanceof GrammarLimitError) throw error;
    return () => true;
  }
}
