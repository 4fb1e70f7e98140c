/** Carries out a proposed solution on the server, in a separate episode, and looks at what it changed. */
import type { Task } from "../../core/task.ts";
import type { McpSource } from "../mcp/mcp-source.ts";
import { type OfferedTool, type Proposal, resolveLinks } from "./proposal.ts";

/** One call as it was made. */
export interface MadeCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: string;
}

export interface Solved {
  readonly calls: readonly MadeCall[];
  /** What tools that only read say after it, and said otherwise before. */
  readonly changes: readonly MadeCall[];
  /** What the environment reports at the end, where it was asked to check. */
  readonly signals: Readonly<Record<string, number>>;
}

/** Why a proposal is no task. */
export type Reason =
  | "a tool that is not offered"
  | "a call that was refused"
  | "arguments that lead nowhere"
  | "too many calls"
  | "no result to check"
  | "a result that is too long"
  | "another result the second time"
  | "checks that its solution does not pass"
  | "checks that doing nothing passes"
  | "a duplicate"
  | "arguments that no template makes";

const maxProbeChars = 20_000;

const taskOf = (checks: readonly MadeCall[]): Task => ({
  id: "",
  instruction: "",
  metadata: { checks },
});

/** What the tools say that show the state. */
async function probe(
  episode: Awaited<ReturnType<McpSource["open"]>>,
  probes: readonly string[],
  signal: AbortSignal,
): Promise<readonly MadeCall[]> {
  const made: MadeCall[] = [];
  for (const name of probes) {
    const { text, isError } = await episode.call(name, {}, signal);
    if (isError !== true && text.length <= maxProbeChars)
      made.push({ name, arguments: {}, result: text });
  }
  return made;
}

/** Tools that need no arguments, change nothing, and say the same in two episodes: they show the state. */
export async function findProbes(
  source: McpSource,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly MadeCall[]> {
  const said: (readonly MadeCall[])[] = [];
  for (let time = 0; time < 2; time++) {
    const episode = await source.open(taskOf([]), { signal });
    try {
      said.push(await probe(episode, names, signal));
    } finally {
      await episode.close();
    }
  }
  const [first = [], second = []] = said;
  const again = new Map(second.map(({ name, result }) => [name, result]));
  return first.filter(({ name, result }) => again.get(name) === result);
}

export interface SolveOptions {
  readonly source: McpSource;
  readonly tools: readonly OfferedTool[];
  /** Tools that show the state. */
  readonly probes: readonly string[];
  /** What the environment has to check at the end. */
  readonly checks?: readonly MadeCall[];
  readonly signal: AbortSignal;
}

/** A reason where it cannot be carried out. @throws AgentTrainerError where the server itself fails */
export async function solve(
  { calls }: Pick<Proposal, "calls">,
  { source, tools, probes, checks = [], signal }: SolveOptions,
): Promise<Solved | Reason> {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  if (!calls.every(({ tool }) => byName.has(tool))) return "a tool that is not offered";
  const episode = await source.open(taskOf(checks), { signal });
  try {
    const mayChange = calls.some(({ tool }) => byName.get(tool)?.isReadOnly !== true);
    const before = mayChange ? await probe(episode, probes, signal) : [];
    const made: MadeCall[] = [];
    for (const { tool, arguments: given } of calls) {
      const results = made.map(({ result }) => result);
      const args = resolveLinks(given, results);
      if (args === null) return "arguments that lead nowhere";
      const { text, isError } = await episode.call(tool, args, signal);
      if (isError === true) return "a call that was refused";
      made.push({ name: tool, arguments: args, result: text });
    }
    const after = mayChange ? await probe(episode, probes, signal) : [];
    const was = new Map(before.map(({ name, result }) => [name, result]));
    const changes = after.filter(({ name, result }) => was.get(name) !== result);
    const { signals = {} } = (await episode.finish?.(signal)) ?? {};
    return { calls: made, changes, signals };
  } finally {
    await episode.close();
  }
}
