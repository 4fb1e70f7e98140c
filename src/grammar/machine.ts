/**
 * A grammar as a network of byte automata that call one another (a recursive transition network). Symbols
 * below 256 are bytes; 256 and above are tags, which are single tokens. In arrays of integers, which threads
 * share without a copy.
 */
import { IntegerRows } from "./integer-rows.ts";
import type { WorkBudget } from "./work-budget.ts";

/** Lists of a state are chains: each entry has the index of the next one, -1 at the end. */
export interface MachineData {
  /** [state, 4] first edge, first call, first jump; 1 where its rule is complete. */
  readonly states: Int32Array;
  /** [edge, 4] lowest symbol, highest symbol, target, next. */
  readonly edges: Int32Array;
  /** [call, 3] rule, state after it, next. */
  readonly calls: Int32Array;
  /** [jump, 2] target, next. */
  readonly jumps: Int32Array;
  /** [rule] state where it begins. */
  readonly rules: Int32Array;
}

const none = -1;

/** Building blocks take the state where they begin and return the one where they end. */
export class Machine {
  readonly #states = new IntegerRows(4);
  readonly #edges = new IntegerRows(4);
  readonly #calls = new IntegerRows(3);
  readonly #jumps = new IntegerRows(2);
  readonly #rules = new IntegerRows(1);
  readonly #budget: WorkBudget;

  constructor(budget: WorkBudget) {
    this.#budget = budget;
  }

  /** Number of its states. */
  get size(): number {
    return this.#states.length;
  }

  state(): number {
    this.#budget.spend(1);
    return this.#states.push(none, none, none, 0);
  }

  jump(from: number, to: number): void {
    this.#budget.spend(1);
    const { data } = this.#states;
    const jump = this.#jumps.push(to, data[4 * from + 2]!);
    data[4 * from + 2] = jump;
  }

  edge(from: number, low: number, high: number, to: number = this.state()): number {
    this.#budget.spend(1);
    const { data } = this.#states;
    data[4 * from] = this.#edges.push(low, high, to, data[4 * from]!);
    return to;
  }

  call(from: number, rule: number, to: number = this.state()): number {
    this.#budget.spend(1);
    const { data } = this.#states;
    data[4 * from + 1] = this.#calls.push(rule, to, data[4 * from + 1]!);
    return to;
  }

  bytes(from: number, bytes: Uint8Array): number {
    let at = from;
    for (const byte of bytes) at = this.edge(at, byte, byte);
    return at;
  }

  text(from: number, text: string): number {
    return this.bytes(from, Buffer.from(text, "utf8"));
  }

  /** Any of these texts; what they begin with in common is one path. */
  texts(from: number, texts: Iterable<string>): number {
    const end = this.state();
    const known = new Map<string, number>();
    for (const text of texts) {
      let at = from;
      for (const byte of Buffer.from(text, "utf8")) {
        const key = `${at}/${byte}`;
        const next = known.get(key) ?? this.edge(at, byte, byte);
        known.set(key, next);
        at = next;
      }
      this.jump(at, end);
    }
    return end;
  }

  /** A rule that exists before its content, for recursion. */
  declare(): number {
    return this.#rules.push(this.state());
  }

  define(rule: number, build: (from: number) => number): void {
    const end = build(this.#rules.data[rule]!);
    this.#states.data[4 * end + 3] = 1;
  }

  rule(build: (from: number) => number): number {
    const rule = this.declare();
    this.define(rule, build);
    return rule;
  }

  /** Adds all rules of another machine; returns the number that its first one has now. */
  append({ states, edges, calls, jumps, rules }: MachineData): number {
    const [state, edge, call, jump, rule] = [
      this.#states.length,
      this.#edges.length,
      this.#calls.length,
      this.#jumps.length,
      this.#rules.length,
    ];
    // -1 stays -1.
    const moved = (index: number, by: number): number => (index === none ? none : index + by);
    for (let i = 0; i < states.length; i += 4)
      this.#states.push(
        moved(states[i]!, edge),
        moved(states[i + 1]!, call),
        moved(states[i + 2]!, jump),
        states[i + 3]!,
      );
    for (let i = 0; i < edges.length; i += 4)
      this.#edges.push(edges[i]!, edges[i + 1]!, edges[i + 2]! + state, moved(edges[i + 3]!, edge));
    for (let i = 0; i < calls.length; i += 3)
      this.#calls.push(calls[i]! + rule, calls[i + 1]! + state, moved(calls[i + 2]!, call));
    for (let i = 0; i < jumps.length; i += 2)
      this.#jumps.push(jumps[i]! + state, moved(jumps[i + 1]!, jump));
    for (const start of rules) this.#rules.push(start + state);
    return rule;
  }

  /** In memory that threads share. */
  finish(): MachineData {
    return {
      states: this.#states.shared(),
      edges: this.#edges.shared(),
      calls: this.#calls.shared(),
      jumps: this.#jumps.shared(),
      rules: this.#rules.shared(),
    };
  }
}
