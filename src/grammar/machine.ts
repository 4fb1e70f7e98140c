/**
 * A grammar as a network of byte automata that call one another (a recursive transition network). Symbols
 * below 256 are bytes; 256 and above are tags, which are single tokens.
 */

interface Edge {
  readonly low: number;
  readonly high: number;
  readonly to: number;
}

interface CallEdge {
  readonly rule: number;
  readonly to: number;
}

export interface MachineState {
  readonly edges: Edge[];
  readonly calls: CallEdge[];
  readonly jumps: number[];
  /** Its rule is complete here. */
  ends: boolean;
}

/** States that may be created for one grammar. */
const maxStates = 200_000;

/** Building blocks take the state where they begin and return the one where they end. */
export class Machine {
  readonly states: MachineState[] = [];
  /** Start state of each rule. */
  readonly rules: number[] = [];

  state(): number {
    if (this.states.length >= maxStates) throw new RangeError("the schema is too large");
    return this.states.push({ edges: [], calls: [], jumps: [], ends: false }) - 1;
  }

  jump(from: number, to: number): void {
    this.states[from]!.jumps.push(to);
  }

  edge(from: number, low: number, high: number, to: number = this.state()): number {
    this.states[from]!.edges.push({ low, high, to });
    return to;
  }

  call(from: number, rule: number, to: number = this.state()): number {
    this.states[from]!.calls.push({ rule, to });
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

  /** A rule that exists before its content, for recursion. */
  declare(): number {
    return this.rules.push(this.state()) - 1;
  }

  define(rule: number, build: (from: number) => number): void {
    this.states[build(this.rules[rule]!)]!.ends = true;
  }

  rule(build: (from: number) => number): number {
    const rule = this.declare();
    this.define(rule, build);
    return rule;
  }
}

/**
 * [state] least number of symbols to the end of its rule, Infinity where there is no way: such states are
 * dead ends, and never entered.
 */
export function distances({ states, rules }: Machine): Float64Array {
  const distance = new Float64Array(states.length).fill(Infinity);
  for (const [s, { ends }] of states.entries()) if (ends) distance[s] = 0;
  for (let changed = true; changed;) {
    changed = false;
    for (let s = states.length - 1; s >= 0; s--) {
      const { edges, calls, jumps } = states[s]!;
      let best = distance[s]!;
      for (const to of jumps) best = Math.min(best, distance[to]!);
      for (const { to } of edges) best = Math.min(best, 1 + distance[to]!);
      for (const { rule, to } of calls)
        best = Math.min(best, distance[rules[rule]!]! + distance[to]!);
      if (best < distance[s]!) {
        distance[s] = best;
        changed = true;
      }
    }
  }
  return distance;
}
