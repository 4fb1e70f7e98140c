/**
 * Where a machine may be after some bytes: states, each with the places that its rule returns to. A rule that
 * several callers have called at the same place is entered once, with all of their places, so ambiguity costs
 * no more than the machine has states (a graph-structured stack). Configurations are found once each, with
 * their transitions, so that reading a byte is mostly one look-up: a deterministic automaton, made as needed.
 */
import type { CompiledGrammar } from "./compile-grammar.ts";
import type { MachineData } from "./machine.ts";
import { GrammarLimitError } from "./work-budget.ts";

/** The callers of a rule; the whole text has none. */
interface Context {
  readonly id: number;
  readonly callers: readonly Frame[];
  /** Least symbols to the end of the whole text, after the end of the rule. */
  readonly distance: number;
}

interface Frame {
  readonly id: number;
  readonly state: number;
  readonly context: Context;
  readonly distance: number;
}

/** A rule that is called here, while its callers are being found. */
interface Entry {
  readonly rule: number;
  readonly callers: Map<string, { readonly state: number; readonly within: Context | Entry }>;
  /** It can end without reading anything. */
  endsHere: boolean;
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

/** States that a text may be in at the same time. */
const maxFrames = 20_000;

const isEntry = (within: Context | Entry): within is Entry => "rule" in within;

export class Configurations {
  readonly #machine: MachineData;
  readonly #distance: Float64Array;
  /** 256 and the number of tags. */
  readonly #symbols: number;
  #frames = new Map<string, Frame>();
  #contexts = new Map<string, Context>();
  #byKey = new Map<string, Configuration>();
  all: Configuration[] = [];
  start!: Configuration;
  readonly #rule: number;

  constructor({ machine, distance, rule, tags }: CompiledGrammar) {
    this.#machine = machine;
    this.#rule = rule;
    this.#symbols = 256 + tags.length;
    this.#distance = distance;
    this.reset();
  }

  /** Forgets everything: configurations that were found before are of no use any more. */
  reset(): void {
    this.#frames = new Map();
    this.#contexts = new Map();
    this.#byKey = new Map();
    this.all = [];
    const whole = this.#context([]);
    this.start = this.#configuration([this.#frame(this.#machine.rules[this.#rule]!, whole)]);
  }

  /** Null where no text of the grammar has this symbol here. @throws GrammarLimitError */
  step(from: Configuration, symbol: number): Configuration | null {
    const known = from.next[symbol]!;
    if (known >= 0) return this.all[known]!;
    if (known === none) return null;
    const { states, edges } = this.#machine;
    const moved: Frame[] = [];
    for (const frame of from.frames) {
      for (let e = states[4 * frame.state]!; e !== -1; e = edges[4 * e + 3]!)
        if (symbol >= edges[4 * e]! && symbol <= edges[4 * e + 1]!)
          moved.push(this.#frame(edges[4 * e + 2]!, frame.context));
    }
    const found = moved.length === 0 ? null : this.#configuration(moved);
    const isDead = found === null || found.distance === Infinity;
    from.next[symbol] = isDead ? none : found.id;
    return isDead ? null : found;
  }

  /** The symbol of a shortest text to an end, the lowest of several; -1 at an end. */
  nearest(from: Configuration): number {
    if (from.distance === 0) return none;
    const { states, edges } = this.#machine;
    let symbol = Infinity;
    for (const frame of from.frames) {
      if (frame.distance !== from.distance) continue;
      for (let e = states[4 * frame.state]!; e !== none; e = edges[4 * e + 3]!)
        if (this.#distance[edges[4 * e + 2]!]! + frame.context.distance === from.distance - 1)
          symbol = Math.min(symbol, edges[4 * e]!);
    }
    return symbol;
  }

  #frame(state: number, context: Context): Frame {
    const key = `${state}/${context.id}`;
    const known = this.#frames.get(key);
    if (known !== undefined) return known;
    const distance = this.#distance[state]! + context.distance;
    const frame: Frame = { id: this.#frames.size, state, context, distance };
    this.#frames.set(key, frame);
    return frame;
  }

  #context(callers: readonly Frame[]): Context {
    const sorted = callers.toSorted((a, b) => a.id - b.id);
    const key = sorted.map(({ id }) => id).join();
    const known = this.#contexts.get(key);
    if (known !== undefined) return known;
    const distance = sorted.length === 0 ? 0 : leastOf(sorted);
    const context: Context = { id: this.#contexts.size, callers: sorted, distance };
    this.#contexts.set(key, context);
    return context;
  }

  /** With everything that is reached without reading; only states that read something are kept. */
  #configuration(begun: readonly Frame[]): Configuration {
    const { accepts, reading } = this.#close(begun);
    const frames = [...reading].sort((a, b) => a.id - b.id);
    const key = `${accepts ? "e" : ""}${frames.map(({ id }) => id).join()}`;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const configuration: Configuration = {
      id: this.all.length,
      frames,
      accepts,
      distance: accepts ? 0 : leastOf(frames),
      next: new Int32Array(this.#symbols).fill(unknown),
    };
    this.all.push(configuration);
    this.#byKey.set(key, configuration);
    return configuration;
  }

  #close(begun: readonly Frame[]): { accepts: boolean; reading: ReadonlySet<Frame> } {
    const { states, calls, jumps, rules } = this.#machine;
    const entries = new Map<number, Entry>();
    const seen = new Map<Context | Entry, Set<number>>();
    const reading: { readonly state: number; readonly within: Context | Entry }[] = [];
    const queue: { readonly state: number; readonly within: Context | Entry }[] = [];
    let accepts = false;
    let count = 0;
    const visit = (state: number, within: Context | Entry): void => {
      if (this.#distance[state] === Infinity) return;
      let own = seen.get(within);
      if (own === undefined) seen.set(within, (own = new Set()));
      if (own.has(state)) return;
      own.add(state);
      if (++count > maxFrames)
        throw new GrammarLimitError(
          `its alternatives leave more than ${maxFrames.toLocaleString("en")} states open at one place of the text`,
        );
      queue.push({ state, within });
    };
    const call = (rule: number, after: number, within: Context | Entry): void => {
      const start = rules[rule]!;
      if (this.#distance[start] === Infinity || this.#distance[after] === Infinity) return;
      let entry = entries.get(rule);
      if (entry === undefined) {
        entry = { rule, callers: new Map(), endsHere: false };
        entries.set(rule, entry);
      }
      const key = `${after}/${isEntry(within) ? `r${within.rule}` : within.id}`;
      if (entry.callers.has(key)) return;
      entry.callers.set(key, { state: after, within });
      if (entry.endsHere) visit(after, within);
      visit(start, entry);
    };
    for (const { state, context } of begun) visit(state, context);
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const { state, within } = next;
      const at = 4 * state;
      if (states[at] !== none) reading.push(next);
      if (states[at + 3] === 1) {
        if (isEntry(within)) {
          within.endsHere = true;
          for (const caller of within.callers.values()) visit(caller.state, caller.within);
        } else if (within.callers.length === 0) accepts = true;
        else for (const caller of within.callers) visit(caller.state, caller.context);
      }
      for (let j = states[at + 2]!; j !== none; j = jumps[2 * j + 1]!) visit(jumps[2 * j]!, within);
      for (let c = states[at + 1]!; c !== none; c = calls[3 * c + 2]!)
        call(calls[3 * c]!, calls[3 * c + 1]!, within);
    }
    const contexts = new Map<Entry, Context>();
    const contextOf = (within: Context | Entry): Context => {
      if (!isEntry(within)) return within;
      const known = contexts.get(within);
      if (known !== undefined) return known;
      // No rule calls itself before it has read something, so this ends.
      const callers = Array.from(within.callers.values(), (caller) =>
        this.#frame(caller.state, contextOf(caller.within)),
      );
      const context = this.#context(callers);
      contexts.set(within, context);
      return context;
    };
    return {
      accepts,
      reading: new Set(reading.map(({ state, within }) => this.#frame(state, contextOf(within)))),
    };
  }
}

const leastOf = (frames: readonly Frame[]): number =>
  frames.reduce((least, { distance }) => Math.min(least, distance), Infinity);
