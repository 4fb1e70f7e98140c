/**
 * Whether an agent took the way of a reference, with the verdicts of LangChain's `agentevals` 0.0.7: each call
 * takes the first one that matches, which may leave none for a later call.
 */
import type { ChatMessage } from "../../core/message.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import { type SyncScorer, note, scored } from "../scorer.ts";
import {
  type TrajectoryCall,
  type Turn,
  episodeMessages,
  referenceTurns,
  turnsOf,
} from "./read-trajectory.ts";
import { type ToolArgsMode, type ToolArgsRule, comparisonByTool } from "./tool-args.ts";

const maxCalls = 500;
const maxArgumentChars = 1_000_000;

/**
 * Options of {@link trajectoryMatch}.
 *
 * @example
 * const options: TrajectoryMatchOptions<{ ideal: object[] }> = {
 *   mode: "superset",
 *   reference: (task) => task.metadata.ideal,
 *   toolArgs: { search: ["query"], "*": "ignore" },
 * };
 */
export interface TrajectoryMatchOptions<Metadata> {
  /**
   * `strict`: message by message the same roles and, in any order within a message, the same calls;
   * `unordered`: the same calls in any order; `subset`: no calls but those of the reference; `superset`: at
   * least the calls of the reference. @default "strict"
   */
  readonly mode?: "strict" | "unordered" | "subset" | "superset";
  /** The reference: messages in OpenAI's format. @default `task.metadata.reference` */
  readonly reference?: (task: Task<Metadata>) => unknown;
  /** How arguments are compared: one mode, or a rule by tool, with `*` for all others. @default "exact" */
  readonly toolArgs?: ToolArgsMode | Readonly<Record<string, ToolArgsRule>>;
  /**
   * The messages to compare. @default those of each trajectory's last call with its response; system messages
   * only if the reference has any
   */
  readonly messages?: (episode: Episode) => readonly ChatMessage[];
}

/**
 * 1 where the messages and tool calls of an episode match a reference trajectory, else 0, with the verdicts of
 * the package `agentevals`. Texts are not compared.
 *
 * @example
 * const evaluator = trajectoryMatch({
 *   mode: "unordered",
 *   reference: () => [
 *     {
 *       role: "assistant",
 *       tool_calls: [{ function: { name: "get_weather", arguments: '{"city":"Rome"}' } }],
 *     },
 *   ],
 * });
 */
export function trajectoryMatch<Metadata = unknown>(
  options: TrajectoryMatchOptions<Metadata> = {},
): SyncScorer<Metadata> {
  const { mode = "strict", toolArgs = "exact" } = options;
  const comparison = comparisonByTool(toolArgs);
  const matches: Matches = (made, expected) =>
    made.name === expected.name &&
    made.args !== null &&
    expected.args !== null &&
    comparison(made.name)(made.args, expected.args);
  const problem = problems[mode];
  return (task, episode) => {
    const expected = referenceTurns(task, options.reference);
    const messages = options.messages?.(episode) ?? defaultMessages(episode, expected);
    const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls);
    const chars = calls.reduce((sum, call) => sum + call.arguments.length, 0);
    if (calls.length > maxCalls || chars > maxArgumentChars) {
      return scored(0, { reason: "the tool calls are too many or too long to be compared" });
    }
    const reason = problem(turnsOf(messages), expected, matches);
    return reason === null ? scored(1) : scored(0, { reason: note(reason) });
  };
}

function defaultMessages(episode: Episode, expected: readonly Turn[]): readonly ChatMessage[] {
  const messages = episodeMessages(episode);
  const hasSystem = expected.some(({ role }) => role === "system");
  return hasSystem ? messages : messages.filter(({ role }) => role !== "system");
}

type Matches = (made: TrajectoryCall, expected: TrajectoryCall) => boolean;
type Problem = (
  made: readonly Turn[],
  expected: readonly Turn[],
  matches: Matches,
) => string | null;

/** The first call that finds none in `pool` that matches and that no call before it has taken. */
function firstUnmatched(
  calls: readonly TrajectoryCall[],
  pool: readonly TrajectoryCall[],
  matches: (call: TrajectoryCall, candidate: TrajectoryCall) => boolean,
): TrajectoryCall | undefined {
  const isTaken = pool.map(() => false);
  return calls.find((call) => {
    const at = pool.findIndex((one, index) => !isTaken[index] && matches(call, one));
    if (at !== -1) isTaken[at] = true;
    return at === -1;
  });
}

const callsOf = (turns: readonly Turn[]): TrajectoryCall[] => turns.flatMap(({ calls }) => calls);

const superset: Problem = (made, expected, matches) => {
  const missing = firstUnmatched(callsOf(expected), callsOf(made), (call, one) =>
    matches(one, call),
  );
  return missing === undefined ? null : `an expected call of "${missing.name}" is missing`;
};

/** With the arguments of the reference in the place of those made, as in `agentevals`. */
const subset: Problem = (made, expected, matches) => {
  const extra = firstUnmatched(callsOf(made), callsOf(expected), (call, one) => matches(one, call));
  return extra === undefined ? null : `a call of "${extra.name}" is not expected`;
};

const unordered: Problem = (made, expected, matches) =>
  superset(made, expected, matches) ?? subset(made, expected, matches);

const strict: Problem = (made, expected, matches) => {
  if (made.length !== expected.length) {
    return `${made.length} messages instead of ${expected.length}`;
  }
  for (const [index, { role, calls }] of made.entries()) {
    const wanted = expected[index]!;
    const place = `message ${index + 1}`;
    if (role !== wanted.role) return `${place} is from ${role} instead of ${wanted.role}`;
    if (calls.length !== wanted.calls.length) {
      return `${place} has ${calls.length} calls instead of ${wanted.calls.length}`;
    }
    const extra = firstUnmatched(calls, wanted.calls, matches);
    if (extra !== undefined) return `${place} has a call of "${extra.name}" that is not expected`;
  }
  return null;
};

const problems = { strict, unordered, subset, superset };
