/** Random trajectories with references, and settings under which each pair gets a verdict. */
import type { ToolArgs, ToolArgsMode, ToolArgsRule } from "../../src/evaluators/index.ts";
import { createRandom, shuffled } from "../../src/util/random.ts";

/** A message in OpenAI's format. */
export interface WireMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly WireCall[];
}

interface WireCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What is compared. */
export interface TrajectoryPair {
  readonly made: readonly WireMessage[];
  readonly reference: readonly WireMessage[];
}

/** Not symmetric, to show in which order both are given. */
const notEarlier = (a: ToolArgs, b: ToolArgs): boolean =>
  Number(a["day"] ?? 0) >= Number(b["day"] ?? 0);

const rules: readonly (ToolArgsMode | Readonly<Record<string, ToolArgsRule>>)[] = [
  "exact",
  "ignore",
  "subset",
  "superset",
  { book: ["day", "guest.name"], search: [], "*": "ignore" },
  { book: notEarlier, search: "subset", "*": "exact" },
];

/** Every mode with every kind of rule for arguments. */
export const settings = (["strict", "unordered", "subset", "superset"] as const).flatMap((mode) =>
  rules.map((toolArgs) => ({ mode, toolArgs })),
);

const values: readonly unknown[] = [1, 2, "Rome", null, true, [1, "x"], [], { name: "Ann" }];

/** Many pairs are almost equal: the trajectory is its reference with up to three changes. */
export function randomPairs(count: number): readonly TrajectoryPair[] {
  const random = createRandom(1);
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;

  const args = (): Record<string, unknown> => {
    const found: Record<string, unknown> = {};
    if (below(2) === 0) found["day"] = 1 + below(3);
    if (below(3) === 0) found["guest"] = { name: pick(["Ann", "Bo"]), age: below(2) };
    if (below(4) === 0) found["note"] = pick(values);
    return found;
  };
  const call = (changed: Record<string, unknown> = args()): WireCall => ({
    id: `call_${below(1e6)}`,
    type: "function",
    function: { name: pick(["book", "search", "cancel"]), arguments: JSON.stringify(changed) },
  });
  const assistant = (): WireMessage => {
    const tool_calls = Array.from({ length: below(4) }, () => call());
    const content = pick(["", "Let me see."]);
    return { role: "assistant", content, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
  };
  const message = (): WireMessage => {
    const role = pick(["user", "assistant", "assistant", "tool"] as const);
    if (role === "assistant") return assistant();
    return { role, content: "Yes.", ...(role === "tool" ? { tool_call_id: "call_1" } : {}) };
  };
  const otherArgs = ({ id, type, function: { name, arguments: text } }: WireCall): WireCall => {
    const entries = shuffled(Object.entries(JSON.parse(text) as object), random);
    const changed = pick([
      () => entries,
      () => entries.slice(1),
      () => [...entries, ["extra", pick(values)]],
      () => Object.entries(args()),
    ])();
    const fields: unknown = Object.fromEntries(changed as [string, unknown][]);
    return { id, type, function: { name, arguments: JSON.stringify(fields) } };
  };
  const otherCalls = (calls: readonly WireCall[]): readonly WireCall[] =>
    pick([
      () => shuffled(calls, random),
      () => [...calls, call()],
      () => (calls.length > 1 ? calls.slice(1) : calls),
      () => calls.map(otherArgs),
      () => calls.map(otherArgs),
    ])();
  const change = (messages: readonly WireMessage[]): readonly WireMessage[] => {
    const at = below(messages.length);
    const { tool_calls } = messages[at]!;
    if (tool_calls !== undefined && below(4) > 0) {
      return messages.with(at, { ...messages[at]!, tool_calls: otherCalls(tool_calls) });
    }
    return pick([
      () => shuffled(messages, random),
      () => messages.toSpliced(at, 0, message()),
      () => (messages.length > 1 ? messages.toSpliced(at, 1) : messages),
      () => messages.with(at, message()),
    ])();
  };

  return Array.from({ length: count }, () => {
    const start = below(2) === 0 ? [{ role: "system", content: "Help." } as const] : [];
    const rest = Array.from({ length: 1 + below(5) }, message);
    const reference: readonly WireMessage[] = [...start, ...rest];
    let made = reference;
    for (let changes = below(4); changes > 0; changes--) made = change(made);
    return { made, reference };
  });
}
