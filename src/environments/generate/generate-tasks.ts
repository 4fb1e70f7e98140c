/**
 * Tasks for the tools of an MCP server, each with checks: what its solution answered, and the state that it left. A
 * task is kept where the same solution has the same outcome in another episode and passes its checks there, where
 * doing nothing does not, and where no earlier one asks the same.
 */
import type { Task } from "../../core/task.ts";
import { ConfigError } from "../../core/errors.ts";
import type { ChatEndpoint } from "../../http/chat-completion.ts";
import { normalizeText } from "../../util/normalize-text.ts";
import type { McpSource } from "../mcp/mcp-source.ts";
import { KnownValues } from "./argument-values.ts";
import { modelProposals } from "./model-proposals.ts";
import { needsNothing, type OfferedTool, type Proposal } from "./proposal.ts";
import { findProbes, type MadeCall, type Reason, type Solved, solve } from "./solve.ts";
import { templateProposals } from "./template-proposals.ts";

/** A row that `train` reads. */
export interface GeneratedTask {
  readonly id: string;
  readonly instruction: string;
  /** What the last call of the solution answered. */
  readonly answer: string;
  /** The solution. */
  readonly calls: readonly MadeCall[];
  /** What the server's tools say after it; absent where it changes nothing. */
  readonly checks?: readonly MadeCall[];
}

export interface GenerateOptions {
  readonly source: McpSource;
  /** Tasks that are wanted. */
  readonly count: number;
  /** Calls of a solution. */
  readonly maxCalls: number;
  readonly seed: number;
  /** Proposals that are tried. */
  readonly maxTries: number;
  /** Names of tools that may be called; null is all that the server does not call destructive. */
  readonly only: readonly string[] | null;
  /** Writes the tasks; null is templates. */
  readonly endpoint: ChatEndpoint | null;
  /** The reward of an output, as in training. */
  readonly score: (
    task: Task,
    output: string,
    signals: Readonly<Record<string, number>>,
  ) => number | Promise<number>;
  readonly onProgress?: (kept: number, tried: number) => void;
  readonly signal: AbortSignal;
}

/** What was made, and why the rest was dropped. */
export interface GenerateReport {
  readonly tasks: readonly GeneratedTask[];
  readonly tools: readonly string[];
  readonly tried: number;
  readonly dropped: Readonly<Partial<Record<Reason, number>>>;
  /** Of the model that wrote them. */
  readonly tokens: { readonly prompt: number; readonly completion: number };
}

const maxProbes = 8;
const maxAnswerChars = 4000;
const maxSampleChars = 2000;

/** Words that say that a tool only reads, where a server has no annotations. */
const readingWords: ReadonlySet<string> = new Set(
  "get list read search find show describe count lookup query fetch".split(" "),
);

/** `get_price`, `getPrice` and `get-price` begin with "get". */
const reads = (name: string): boolean =>
  readingWords.has(/^[A-Za-z]?[a-z]*/u.exec(name)?.[0].toLowerCase() ?? "");

async function offeredTools({
  source,
  only,
  signal,
}: GenerateOptions): Promise<readonly OfferedTool[]> {
  const episode = await source.open({ id: "", instruction: "", metadata: {} }, { signal });
  await episode.close();
  const unknown = only?.find((name) => episode.tools.every((tool) => tool.name !== name));
  const tools = episode.tools
    .filter(({ name }) => only?.includes(name) ?? !episode.destructive.has(name))
    .map((tool) => ({
      ...tool,
      isReadOnly: episode.readOnly.has(tool.name) || reads(tool.name),
    }));
  if (unknown === undefined && tools.length > 0) return tools;
  const names = episode.tools.map(({ name }) => name).join(", ") || "none";
  throw new ConfigError({
    message:
      unknown === undefined
        ? `${source.name} has no tool that may be called; its tools: ${names}.`
        : `${source.name} has no tool "${unknown}"; its tools: ${names}.`,
    hint: "Name tools with --tools: those that may destroy something are called only then.",
    fields: { option: "--tools" },
  });
}

/** @throws ConfigError; AgentTrainerError where the server or the model fails */
export async function generateTasks(options: GenerateOptions): Promise<GenerateReport> {
  const { source, count, maxTries, maxCalls, seed, endpoint, signal, onProgress } = options;
  const tools = await offeredTools(options);
  const readers = tools.filter((one) => one.isReadOnly && needsNothing(one)).slice(0, maxProbes);
  const probed = await findProbes(
    source,
    readers.map(({ name }) => name),
    signal,
  );
  const known = new KnownValues();
  for (const { result } of probed) known.learn(result);
  const samples = probed.map(({ name, result }) => `${name}: ${result.slice(0, maxSampleChars)}`);
  const tokens = { prompt: 0, completion: 0 };
  const onTokens = (prompt: number, completion: number): void => {
    tokens.prompt += prompt;
    tokens.completion += completion;
  };
  const proposals: AsyncIterable<Proposal | null> | Iterable<Proposal | null> =
    endpoint === null
      ? templateProposals(tools, { seed, known, maxCalls })
      : modelProposals(tools, { endpoint, maxCalls, seed, samples, onTokens, signal });
  const seen = new Set<string>();
  const tasks: GeneratedTask[] = [];
  const dropped: Partial<Record<Reason, number>> = {};
  const attempt = new Attempt(options, tools, probed);
  let tried = 0;
  for await (const proposal of proposals) {
    signal.throwIfAborted();
    tried++;
    const found =
      proposal !== null && seen.has(normalizeText(proposal.instruction))
        ? "a duplicate"
        : await attempt.at(proposal, tasks.length);
    if (typeof found === "string") dropped[found] = (dropped[found] ?? 0) + 1;
    else {
      tasks.push(found);
      seen.add(normalizeText(found.instruction));
      for (const { result } of found.calls) known.learn(result);
    }
    onProgress?.(tasks.length, tried);
    if (tasks.length >= count || tried >= maxTries) break;
  }
  return { tasks, tools: tools.map(({ name }) => name), tried, dropped, tokens };
}

class Attempt {
  readonly #options: GenerateOptions;
  readonly #tools: readonly OfferedTool[];
  readonly #probes: readonly string[];

  constructor(
    options: GenerateOptions,
    tools: readonly OfferedTool[],
    probed: readonly MadeCall[],
  ) {
    this.#options = options;
    this.#tools = tools;
    this.#probes = probed.map(({ name }) => name);
  }

  #solve(calls: Proposal["calls"], checks: readonly MadeCall[]): Promise<Solved | Reason> {
    const { source, signal } = this.#options;
    const [tools, probes] = [this.#tools, this.#probes];
    return solve({ calls }, { source, tools, probes, checks, signal });
  }

  /** A row, or why the proposal is none. */
  async at(proposal: Proposal | null, number: number): Promise<GeneratedTask | Reason> {
    const { maxCalls, score } = this.#options;
    if (proposal === null) return "arguments that no template makes";
    if (proposal.calls.length > maxCalls) return "too many calls";
    const first = await this.#solve(proposal.calls, []);
    if (typeof first === "string") return first;
    const answer = first.calls.at(-1)?.result.trim() ?? "";
    if (answer === "") return "no result to check";
    if (answer.length > maxAnswerChars) return "a result that is too long";
    const again = await this.#solve(proposal.calls, first.changes);
    if (typeof again === "string") return again;
    const outcomeOf = ({ calls, changes }: Solved): string => JSON.stringify({ calls, changes });
    if (outcomeOf(first) !== outcomeOf(again)) return "another result the second time";
    const row = rowOf(proposal, first, answer, number);
    const task = { id: row.id, instruction: row.instruction, metadata: { ...row } };
    const said = again.calls.at(-1)?.result ?? "";
    if ((await score(task, said, again.signals)) < 1)
      return "checks that its solution does not pass";
    if (first.changes.length === 0) return row;
    const idle = await this.#solve([], first.changes);
    const isIdlePaid = typeof idle === "string" || (await score(task, said, idle.signals)) > 0;
    return isIdlePaid ? "checks that doing nothing passes" : row;
  }
}

function rowOf(
  { instruction }: Proposal,
  { calls, changes }: Solved,
  answer: string,
  number: number,
): GeneratedTask {
  const id = `task-${String(number + 1).padStart(5, "0")}`;
  return { id, instruction, answer, calls, ...(changes.length === 0 ? {} : { checks: changes }) };
}
