/** Languages of code points as deterministic automata, made as needed; they can be intersected and negated. */

/** Half closed on neither side: [low, high]. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

export interface Transition extends Range {
  readonly to: string;
}

export const lastCodePoint = 0x10ffff;

/** States are strings, equal where they are the same. Code points without a transition are refused. */
export interface Language {
  readonly start: string;
  accepts(state: string): boolean;
  /** Disjoint, ascending. */
  transitions(state: string): readonly Transition[];
}

const everything = (to: string): readonly Transition[] => [{ low: 0, high: lastCodePoint, to }];

export const anyText: Language = {
  start: "",
  accepts: () => true,
  transitions: () => everything(""),
};

/** Texts of `min` to `max` code points. */
export function ofLength(min: number, max: number): Language {
  const limit = max === Infinity ? min : max;
  return {
    start: "0",
    accepts: (state) => Number(state) >= min,
    transitions(state) {
      const length = Number(state);
      if (length === limit) return max === Infinity ? everything(state) : [];
      return everything(String(length + 1));
    },
  };
}

/** Exactly these texts. */
export function oneOf(texts: readonly string[]): Language {
  return {
    start: "",
    accepts: (state) => texts.includes(state),
    transitions(state) {
      const next = texts.flatMap((text) => {
        if (!text.startsWith(state) || text === state) return [];
        const point = text.codePointAt(state.length)!;
        return [point];
      });
      return [...new Set(next)]
        .sort((a, b) => a - b)
        .map((point) => ({ low: point, high: point, to: state + String.fromCodePoint(point) }));
    },
  };
}

const dead = "dead";

/** Every text that `language` does not have. */
export function not(language: Language): Language {
  return {
    start: `+${language.start}`,
    accepts: (state) => state === dead || !language.accepts(state.slice(1)),
    transitions(state) {
      if (state === dead) return everything(dead);
      const all: Transition[] = [];
      let next = 0;
      for (const { low, high, to } of language.transitions(state.slice(1))) {
        if (low > next) all.push({ low: next, high: low - 1, to: dead });
        all.push({ low, high, to: `+${to}` });
        next = high + 1;
      }
      if (next <= lastCodePoint) all.push({ low: next, high: lastCodePoint, to: dead });
      return all;
    },
  };
}

/** The texts that both have. */
export function both(a: Language, b: Language): Language {
  const join = (one: string, other: string): string => JSON.stringify([one, other]);
  const split = (state: string): readonly [string, string] => JSON.parse(state) as [string, string];
  return {
    start: join(a.start, b.start),
    accepts(state) {
      const [one, other] = split(state);
      return a.accepts(one) && b.accepts(other);
    },
    transitions(state) {
      const [one, other] = split(state);
      const others = b.transitions(other);
      return a.transitions(one).flatMap((left) =>
        others.flatMap((right) => {
          const low = Math.max(left.low, right.low);
          const high = Math.min(left.high, right.high);
          return low > high ? [] : [{ low, high, to: join(left.to, right.to) }];
        }),
      );
    },
  };
}

/** Whether `language` has `text`. */
export function includes(language: Language, text: string): boolean {
  let state = language.start;
  for (const letter of text) {
    const point = letter.codePointAt(0)!;
    const next = language.transitions(state).find(({ low, high }) => point >= low && point <= high);
    if (next === undefined) return false;
    state = next.to;
  }
  return language.accepts(state);
}
