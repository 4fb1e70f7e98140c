/**
 * Regular expressions of `pattern` as languages. A pattern matches anywhere in a text unless it is anchored.
 * What no finite automaton has (look-around, back references) is refused.
 */
import { lastCodePoint, type Language, type Range, type Transition } from "./language.ts";
import { parseRegex, type RegexNode } from "./regex-parser.ts";

interface Node {
  readonly ranges: Range[];
  to: number;
  readonly jumps: { readonly to: number; readonly only?: "start" | "end" }[];
}

/** States of one pattern. */
const maxNodes = 20_000;

class Builder {
  readonly nodes: Node[] = [];

  node(): number {
    if (this.nodes.length >= maxNodes) throw new RangeError("the pattern is too large");
    return this.nodes.push({ ranges: [], to: -1, jumps: [] }) - 1;
  }

  build(tree: RegexNode, from: number): number {
    switch (tree.type) {
      case "set": {
        const to = this.node();
        this.nodes[from]!.ranges.push(...tree.ranges);
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

/** @throws RangeError or SyntaxError saying what is not supported. */
export function patternLanguage(pattern: string): Language {
  const builder = new Builder();
  const first = builder.node();
  const last = builder.build(parseRegex(pattern), first);
  const { nodes } = builder;
  const any: Range = { low: 0, high: lastCodePoint };

  /** All nodes that are reached without reading. */
  const closure = (from: Iterable<number>, at: { start: boolean; end: boolean }): Set<number> => {
    const reached = new Set(from);
    for (const id of reached) {
      for (const { to, only } of nodes[id]!.jumps)
        if (only === undefined || at[only]) reached.add(to);
    }
    return reached;
  };
  const name = (ids: Iterable<number>): string => [...ids].sort((a, b) => a - b).join();
  const read = (state: string): number[] => (state === "" ? [] : state.split(",").map(Number));
  const isStart = (state: string): boolean => state.startsWith("^");
  const idsOf = (state: string): number[] => read(isStart(state) ? state.slice(1) : state);
  const matched = "matched";
  const transitions = new Map<string, readonly Transition[]>();

  const transitionsOf = (state: string): readonly Transition[] => {
    if (state === matched) return [{ ...any, to: matched }];
    const start = isStart(state);
    const reached = closure(idsOf(state), { start, end: false });
    if (reached.has(last)) return [{ ...any, to: matched }];
    const sets = [...reached].filter((id) => nodes[id]!.to >= 0);
    const cuts = new Set([0, lastCodePoint + 1]);
    for (const id of sets)
      for (const { low, high } of nodes[id]!.ranges) cuts.add(low).add(high + 1);
    const bounds = [...cuts].sort((a, b) => a - b);
    const found: Transition[] = [];
    for (const [i, low] of bounds.slice(0, -1).entries()) {
      const high = bounds[i + 1]! - 1;
      const next = sets.filter((id) =>
        nodes[id]!.ranges.some((range) => low >= range.low && high <= range.high),
      );
      // A match may begin at the next place, too.
      const to = name(
        closure([first, ...next.map((id) => nodes[id]!.to)], { start: false, end: false }),
      );
      const before = found.at(-1);
      if (before?.to === to) found[found.length - 1] = { ...before, high };
      else found.push({ low, high, to });
    }
    return found;
  };
  return {
    start: `^${first}`,
    accepts: (state) =>
      state === matched || closure(idsOf(state), { start: isStart(state), end: true }).has(last),
    transitions(state) {
      const known = transitions.get(state) ?? transitionsOf(state);
      transitions.set(state, known);
      return known;
    },
  };
}
