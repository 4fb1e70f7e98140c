/**
 * Regular expressions of `pattern` as languages. A pattern matches anywhere in a text unless it is anchored.
 * What no finite automaton has (look-around, back references) is refused.
 */
import { WorkBudget } from "../work-budget.ts";
import { lastCodePoint, numbered, type Language, type Range, type Transition } from "./language.ts";
import { parseRegex, type RegexNode } from "./regex-parser.ts";

interface Node {
  ranges: readonly Range[];
  to: number;
  readonly jumps: { readonly to: number; readonly only?: "start" | "end" }[];
}

/** States of one pattern. */
const maxNodes = 20_000;

class Builder {
  readonly nodes: Node[] = [];
  readonly #budget: WorkBudget;

  constructor(budget: WorkBudget) {
    this.#budget = budget;
  }

  node(): number {
    this.#budget.spend(1);
    if (this.nodes.length >= maxNodes) throw new RangeError("the pattern is too large");
    return this.nodes.push({ ranges: [], to: -1, jumps: [] }) - 1;
  }

  build(tree: RegexNode, from: number): number {
    switch (tree.type) {
      case "set": {
        const to = this.node();
        this.nodes[from]!.ranges = tree.ranges;
        this.nodes[from]!.to = to;
        return this.#after(to);
      }
      case "anchor": {
        const to = this.node();
        this.nodes[from]!.jumps.push({ to, only: tree.at });
        return to;
      }
      case "sequence":
        return tree.parts.reduce((at, part) => this.build(part, this.#after(at)), from);
      case "choice": {
        const end = this.node();
        for (const option of tree.options) {
          const start = this.#after(from);
          this.nodes[this.build(option, start)]!.jumps.push({ to: end });
        }
        return end;
      }
      case "repeat": {
        let at = from;
        for (let i = 0; i < tree.min; i++) at = this.build(tree.part, this.#after(at));
        const end = this.node();
        if (tree.max === Infinity) {
          const loop = this.#after(at);
          const start = this.#after(loop);
          this.nodes[this.build(tree.part, start)]!.jumps.push({ to: loop });
          this.nodes[loop]!.jumps.push({ to: end });
          return end;
        }
        for (let i = tree.min; i < tree.max; i++) {
          this.nodes[at]!.jumps.push({ to: end });
          at = this.build(tree.part, this.#after(at));
        }
        this.nodes[at]!.jumps.push({ to: end });
        return end;
      }
    }
  }

  /** A fresh node after `at`: a node has at most one set. */
  #after(at: number): number {
    const to = this.node();
    this.nodes[at]!.jumps.push({ to });
    return to;
  }
}

/** Nodes that a match may have come to; null once it is complete. */
type Place = { readonly nodes: readonly number[]; readonly isStart: boolean } | null;

/**
 * What is next of sets of code points, by ranges that none of them divides, ascending.
 * @param sets nodes with a set
 */
function* divide(
  nodes: readonly Node[],
  sets: readonly number[],
  budget: WorkBudget,
): Generator<Range & { readonly next: ReadonlySet<number> }> {
  const begins = new Map<number, number[]>();
  const ends = new Map<number, number[]>();
  const note = (at: Map<number, number[]>, point: number, id: number): void => {
    const known = at.get(point);
    if (known === undefined) at.set(point, [id]);
    else known.push(id);
  };
  for (const id of sets) {
    budget.spend(nodes[id]!.ranges.length);
    for (const { low, high } of nodes[id]!.ranges) {
      note(begins, low, id);
      note(ends, high + 1, id);
    }
  }
  const cuts = new Set([0, lastCodePoint + 1, ...begins.keys(), ...ends.keys()]);
  const bounds = [...cuts].sort((a, b) => a - b);
  // A set may have a point in several ranges.
  const open = new Map<number, number>();
  for (const [i, low] of bounds.slice(0, -1).entries()) {
    for (const id of ends.get(low) ?? []) {
      const count = open.get(id)! - 1;
      if (count === 0) open.delete(id);
      else open.set(id, count);
    }
    for (const id of begins.get(low) ?? []) open.set(id, (open.get(id) ?? 0) + 1);
    budget.spend(1 + open.size);
    yield {
      low,
      high: bounds[i + 1]! - 1,
      next: new Set(Array.from(open.keys(), (id) => nodes[id]!.to)),
    };
  }
}

/** @throws RangeError or SyntaxError saying what is not supported; GrammarLimitError. */
export function patternLanguage(pattern: string, budget: WorkBudget = new WorkBudget()): Language {
  const builder = new Builder(budget);
  const first = builder.node();
  const last = builder.build(parseRegex(pattern, budget), first);
  const { nodes } = builder;

  /** All nodes that are reached without reading. */
  const closure = (from: Iterable<number>, at: { start: boolean; end: boolean }): Set<number> => {
    const reached = new Set(from);
    for (const id of reached) {
      const { jumps } = nodes[id]!;
      budget.spend(1 + jumps.length);
      for (const { to, only } of jumps) if (only === undefined || at[only]) reached.add(to);
    }
    return reached;
  };
  const inside = { start: false, end: false };
  const whole = { low: 0, high: lastCodePoint };
  return numbered<Place>(
    {
      start: { nodes: [first], isStart: true },
      key: (place) =>
        place === null
          ? ""
          : `${place.isStart ? "^" : ""}${place.nodes.toSorted((a, b) => a - b).join()}`,
      accepts: (place) =>
        place === null || closure(place.nodes, { start: place.isStart, end: true }).has(last),
      transitions(place) {
        if (place === null) return [{ ...whole, to: null }];
        const reached = closure(place.nodes, { start: place.isStart, end: false });
        if (reached.has(last)) return [{ ...whole, to: null }];
        const sets = [...reached].filter((id) => nodes[id]!.to >= 0);
        const found: Transition<Place>[] = [];
        let before: ReadonlySet<number> | undefined;
        for (const { low, high, next } of divide(nodes, sets, budget)) {
          const previous = found.at(-1);
          const isSame = before?.size === next.size && [...next].every((id) => before!.has(id));
          before = next;
          if (previous !== undefined && isSame) {
            found[found.length - 1] = { ...previous, high };
            continue;
          }
          // A match may begin at the next place, too.
          const to = { nodes: [...closure([first, ...next], inside)], isStart: false };
          found.push({ low, high, to });
        }
        return found;
      },
    },
    budget,
  );
}
