/**
 * Where a machine may be after some bytes: a set of call stacks. Configurations are found once each, with
 * their transitions, so that reading a byte is mostly one look-up: a deterministic automaton, made as needed.
 */
import { distances, type Machine } from "./machine.ts";

interface Frame {
  readonly id: number;
  readonly state: number;
  readonly parent: Frame | null;
  /** Least symbols to the end of the whole text. */
  readonly distance: number;
}

export interface Configuration {
  readonly id: number;
  readonly frames: readonly Frame[];
  /** The text may end here. */
  readonly accepts: boolean;
  /** Least number of symbols to an end. */
  readonly distance: number;
  /** [symbol] id of the next configuration; -1 none, -2 not known yet. */
  readonly next: Int32Array;
}

const none = -1;
const unknown = -2;

/** Stacks deeper than any useful text. */
const maxDepth = 400;

export class Configurations {
  readonly #machine: Machine;
  readonly #distance: Float64Array;
  readonly #symbols: number;
  readonly #frames = new Map<string, Frame>();
  readonly #byKey = new Map<string, Configuration>();
  readonly all: Configuration[] = [];
  readonly start: Configuration;

  /** @param symbols 256 and the number of tags */
  constructor(machine: Machine, rule: number, symbols: number) {
    this.#machine = machine;
    this.#symbols = symbols;
    this.#distance = distances(machine);
    const state = machine.rules[rule]!;
    this.start = this.#configuration([this.#frame(state, null)]);
  }

  /** Null where no text of the grammar has this symbol here. */
  step(from: Configuration, symbol: number): Configuration | null {
    const known = from.next[symbol]!;
    if (known >= 0) return this.all[known]!;
    if (known === none) return null;
    const moved: Frame[] = [];
    for (const frame of from.frames) {
      for (const { low, high, to } of this.#machine.states[frame.state]!.edges) {
        if (symbol >= low && symbol <= high) moved.push(this.#frame(to, frame.parent));
      }
    }
    const found = moved.length === 0 ? null : this.#configuration(moved);
    const isDead = found === null || found.distance === Infinity;
    from.next[symbol] = isDead ? none : found.id;
    return isDead ? null : found;
  }

  #frame(state: number, parent: Frame | null): Frame {
    const key = `${state}/${parent?.id ?? ""}`;
    const known = this.#frames.get(key);
    if (known !== undefined) return known;
    const distance = this.#distance[state]! + (parent?.distance ?? 0);
    const frame: Frame = { id: this.#frames.size, state, parent, distance };
    this.#frames.set(key, frame);
    return frame;
  }

  /** With everything that is reached without reading; only frames that read something are kept. */
  #configuration(begun: readonly Frame[]): Configuration {
    const { states, rules } = this.#machine;
    const seen = new Set<Frame>();
    const reading: Frame[] = [];
    const queue = begun.map((frame) => ({ frame, depth: 0 }));
    let accepts = false;
    for (let turn = queue.pop(); turn !== undefined; turn = queue.pop()) {
      const { frame, depth } = turn;
      if (frame.distance === Infinity || seen.has(frame) || depth > maxDepth) continue;
      seen.add(frame);
      const { edges, calls, jumps, ends } = states[frame.state]!;
      if (edges.length > 0) reading.push(frame);
      if (ends) {
        if (frame.parent === null) accepts = true;
        else queue.push({ frame: frame.parent, depth });
      }
      for (const to of jumps) queue.push({ frame: this.#frame(to, frame.parent), depth });
      for (const { rule, to } of calls) {
        const after = states[to]!;
        const isTail =
          after.ends && after.edges.length + after.calls.length + after.jumps.length === 0;
        const parent =
          isTail && frame.parent !== null ? frame.parent : this.#frame(to, frame.parent);
        queue.push({ frame: this.#frame(rules[rule]!, parent), depth: depth + 1 });
      }
    }
    const frames = reading.sort((a, b) => a.id - b.id);
    const key = `${accepts ? "e" : ""}${frames.map(({ id }) => id).join()}`;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const configuration: Configuration = {
      id: this.all.length,
      frames,
      accepts,
      distance: accepts
        ? 0
        : frames.reduce((least, { distance }) => Math.min(least, distance), Infinity),
      next: new Int32Array(this.#symbols).fill(unknown),
    };
    this.all.push(configuration);
    this.#byKey.set(key, configuration);
    return configuration;
  }
}
