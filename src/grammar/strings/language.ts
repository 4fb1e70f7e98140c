/** Languages of code points as deterministic automata, made as needed; they can be intersected and negated. */
import type { WorkBudget } from "../work-budget.ts";

/** Half closed on neither side: [low, high]. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

export interface Transition<State = number> extends Range {
  readonly to: State;
}

export const lastCodePoint = 0x10ffff;

/** States are numbers, from 0 on. Code points without a transition are refused. */
export interface Language {
  readonly start: number;
  accepts(state: number): boolean;
  /** Disjoint, ascending. */
  transitions(state: number): readonly Transition[];
}

/** An automaton as it is written down: states are whatever describes them. */
export interface Automaton<State> {
  readonly start: State;
  /** Equal for the same state alone. */
  key(state: State): string | number;
  accepts(state: State): boolean;
  transitions(state: State): readonly Transition<State>[];
}

/** Numbers the states of an automaton as they are found; transitions are found once each. */
export function numbered<State>(automaton: Automaton<State>, budget: WorkBudget): Language {
  const states: State[] = [];
  const numbers = new Map<string | number, number>();
  const found: (readonly Transition[] | undefined)[] = [];
  const numberOf = (state: State): number => {
    const key = automaton.key(state);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    budget.spend(1);
    const number = states.push(state) - 1;
    numbers.set(key, number);
    return number;
  };
  return {
    start: numberOf(automaton.start),
    accepts: (state) => automaton.accepts(states[state]!),
    transitions(state) {
      const known = found[state];
      if (known !== undefined) return known;
      const own = automaton.transitions(states[state]!);
      budget.spend(own.length);
      const named = own.map(({ low, high, to }) => ({ low, high, to: numberOf(to) }));
      found[state] = named;
      return named;
    },
  };
}

const everything = <State>(to: State): readonly Transition<State>[] => [
  { low: 0, high: lastCodePoint, to },
];

const anyText: Language = {
  start: 0,
  accepts: () => true,
  transitions: () => everything(0),
};

/** Texts of `min` to `max` code points. */
export function ofLength(min: number, max: number): Language {
  const limit = max === Infinity ? min : max;
  return {
    start: 0,
    accepts: (length) => length >= min,
    transitions(length) {
      if (length === limit) return max === Infinity ? everything(length) : [];
      return everything(length + 1);
    },
  };
}

/** Exactly these texts. */
export function oneOf(texts: Iterable<string>, budget: WorkBudget): Language {
  const nodes: { isEnd: boolean; readonly next: Map<number, number> }[] = [
    { isEnd: false, next: new Map() },
  ];
  for (const text of texts) {
    budget.spend(text.length + 1);
    let at = 0;
    for (const letter of text) {
      const point = letter.codePointAt(0)!;
      const { next } = nodes[at]!;
      at = next.get(point) ?? nodes.push({ isEnd: false, next: new Map() }) - 1;
      next.set(point, at);
    }
    nodes[at]!.isEnd = true;
  }
  return {
    start: 0,
    accepts: (state) => nodes[state]!.isEnd,
    transitions: (state) =>
      [...nodes[state]!.next]
        .sort(([a], [b]) => a - b)
        .map(([point, to]) => ({ low: point, high: point, to })),
  };
}

/** Every text that `language` does not have. */
export function not(language: Language): Language {
  const dead = 0;
  return {
    start: language.start + 1,
    accepts: (state) => state === dead || !language.accepts(state - 1),
    transitions(state) {
      if (state === dead) return everything(dead);
      const all: Transition[] = [];
      let next = 0;
      for (const { low, high, to } of language.transitions(state - 1)) {
        if (low > next) all.push({ low: next, high: low - 1, to: dead });
        all.push({ low, high, to: to + 1 });
        next = high + 1;
      }
      if (next <= lastCodePoint) all.push({ low: next, high: lastCodePoint, to: dead });
      return all;
    },
  };
}

/** Where both have a transition. */
function overlap<A, B, C>(
  left: readonly Transition<A>[],
  right: readonly Transition<B>[],
  join: (a: A, b: B) => C,
): readonly Transition<C>[] {
  const found: Transition<C>[] = [];
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    const [a, b] = [left[i]!, right[j]!];
    const low = Math.max(a.low, b.low);
    const high = Math.min(a.high, b.high);
    if (low <= high) found.push({ low, high, to: join(a.to, b.to) });
    if (a.high <= b.high) i++;
    if (b.high <= a.high) j++;
  }
  return found;
}

/** The texts that all of them have. */
export function allOf(languages: readonly Language[], budget: WorkBudget): Language {
  if (languages.length === 0) return anyText;
  if (languages.length === 1) return languages[0]!;
  const product: Automaton<readonly number[]> = {
    start: languages.map(({ start }) => start),
    key: (state) => state.join(),
    accepts: (state) => languages.every((language, i) => language.accepts(state[i]!)),
    transitions(state) {
      let found: readonly Transition<readonly number[]>[] = everything([]);
      for (const [i, language] of languages.entries()) {
        const own = language.transitions(state[i]!);
        budget.spend((found.length + own.length) * (1 + (i >> 3)));
        found = overlap(found, own, (before, to) => [...before, to]);
      }
      return found;
    },
  };
  return numbered(product, budget);
}

function after(transitions: readonly Transition[], point: number): number | null {
  let [from, to] = [0, transitions.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (transitions[middle]!.high < point) from = middle + 1;
    else to = middle;
  }
  const found = transitions[from];
  return found !== undefined && found.low <= point ? found.to : null;
}

/** Whether `language` has `text`. */
export function includes(language: Language, text: string): boolean {
  let state: number | null = language.start;
  for (const letter of text) {
    state = after(language.transitions(state), letter.codePointAt(0)!);
    if (state === null) return false;
  }
  return language.accepts(state);
}
