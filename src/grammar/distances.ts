/** How far the states of a machine are from the ends of their rules: Dijkstra's algorithm, with rules as by Knuth. */
import type { MachineData } from "./machine.ts";

/** Smallest first; entries are states, by their distances when they were added. */
class Heap {
  readonly #states: number[] = [];
  readonly #keys: number[] = [];

  push(state: number, key: number): void {
    const [states, keys] = [this.#states, this.#keys];
    let i = states.length;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (keys[parent]! <= key) break;
      states[i] = states[parent]!;
      keys[i] = keys[parent]!;
      i = parent;
    }
    states[i] = state;
    keys[i] = key;
  }

  pop(): number | undefined {
    const [states, keys] = [this.#states, this.#keys];
    const first = states[0];
    const state = states.pop();
    const key = keys.pop();
    const { length } = states;
    if (state === undefined || key === undefined || length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child + 1 < length && keys[child + 1]! < keys[child]!) child++;
      if (child >= length || keys[child]! >= key) break;
      states[i] = states[child]!;
      keys[i] = keys[child]!;
      i = child;
    }
    states[i] = state;
    keys[i] = key;
    return first;
  }
}

/** Entries by the state that they lead to, as chains. */
function chainsBy(entries: Int32Array, width: number, at: number, size: number) {
  const first = new Int32Array(size).fill(-1);
  const next = new Int32Array(entries.length / width);
  for (let i = 0; i < next.length; i++) {
    const key = entries[width * i + at]!;
    next[i] = first[key]!;
    first[key] = i;
  }
  return { first, next };
}

/** [entry] the state that has it. */
function ownersOf(
  states: Int32Array,
  list: number,
  entries: Int32Array,
  width: number,
): Int32Array {
  const owners = new Int32Array(entries.length / width);
  for (let s = 0; 4 * s < states.length; s++)
    for (let i = states[4 * s + list]!; i !== -1; i = entries[width * i + width - 1]!)
      owners[i] = s;
  return owners;
}

/** Distances of states that nothing else of the machine leads into, but for calls of their rules. */
export interface KnownDistances {
  /** Their first state. */
  readonly from: number;
  readonly distance: Float64Array;
}

/**
 * [state] least number of symbols to the end of its rule, Infinity where there is no way: such states are
 * dead ends, and never entered.
 */
export function distances(
  { states, edges, calls, jumps, rules }: MachineData,
  known: readonly KnownDistances[] = [],
): Float64Array {
  const size = states.length / 4;
  const distance = new Float64Array(new SharedArrayBuffer(8 * size)).fill(Infinity);
  const done = new Uint8Array(size);
  for (const part of known) {
    distance.set(part.distance, part.from);
    done.fill(1, part.from, part.from + part.distance.length);
  }
  const edgeOwner = ownersOf(states, 0, edges, 4);
  const callOwner = ownersOf(states, 1, calls, 3);
  const jumpOwner = ownersOf(states, 2, jumps, 2);
  const edgesTo = chainsBy(edges, 4, 2, size);
  const callsTo = chainsBy(calls, 3, 1, size);
  const callsOf = chainsBy(calls, 3, 0, rules.length);
  const jumpsTo = chainsBy(jumps, 2, 0, size);
  const ruleOf = new Int32Array(size).fill(-1);
  for (const [rule, start] of rules.entries()) ruleOf[start] = rule;
  const heap = new Heap();
  const reach = (state: number, length: number): void => {
    if (length >= distance[state]!) return;
    distance[state] = length;
    heap.push(state, length);
  };
  for (let s = 0; s < size; s++) if (done[s] === 0 && states[4 * s + 3] === 1) reach(s, 0);
  const through = (call: number): void => {
    const rule = rules[calls[3 * call]!]!;
    const after = calls[3 * call + 1]!;
    reach(callOwner[call]!, distance[rule]! + distance[after]!);
  };
  for (let state = heap.pop(); state !== undefined; state = heap.pop()) {
    if (done[state] === 1) continue;
    done[state] = 1;
    const own = distance[state]!;
    for (let i = edgesTo.first[state]!; i !== -1; i = edgesTo.next[i]!)
      reach(edgeOwner[i]!, own + 1);
    for (let i = jumpsTo.first[state]!; i !== -1; i = jumpsTo.next[i]!) reach(jumpOwner[i]!, own);
    for (let i = callsTo.first[state]!; i !== -1; i = callsTo.next[i]!) through(i);
    const rule = ruleOf[state]!;
    if (rule === -1) continue;
    for (let i = callsOf.first[rule]!; i !== -1; i = callsOf.next[i]!) through(i);
  }
  return distance;
}
