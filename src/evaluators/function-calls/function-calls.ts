/** Whether an agent called the expected functions with accepted arguments. */
import type { ToolDefinition } from "../../core/message.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import { type ExactJson, exactOf, writeExact } from "../../util/exact-json.ts";
import { exactReference, readArguments } from "../json/read-json.ts";
import { type SyncScorer, evaluatorError, fieldOf, noReference, scored } from "../scorer.ts";
import { type AcceptedArguments, type FunctionShape, argumentProblem } from "./call-rules.ts";

const maxCalls = 100;
const maxArgumentChars = 100_000;

/**
 * One call that an agent made.
 *
 * @example
 * const call: MadeCall = { name: "get_weather", arguments: '{"city":"Rome"}' };
 */
export interface MadeCall {
  readonly name: string;
  /** JSON text, or the arguments themselves. */
  readonly arguments: string | Readonly<Record<string, unknown>>;
}

/**
 * One call that is expected: the function's name, and the accepted values of each parameter. `""` among
 * them makes the parameter optional.
 *
 * @example
 * const call: ExpectedCall = { get_weather: { city: ["Rome", "Roma"], unit: ["celsius", ""] } };
 */
export type ExpectedCall = Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>;

/**
 * Options of {@link functionCalls}.
 *
 * @example
 * const options: FunctionCallsOptions<{ truth: ExpectedCall[] }> = {
 *   answer: (task) => task.metadata.truth,
 * };
 */
export interface FunctionCallsOptions<Metadata> {
  /** The expected calls, or their JSON; none means that no call may be made. @default `task.metadata.answer` */
  readonly answer?: (task: Task<Metadata>) => readonly ExpectedCall[] | string;
  /** The calls that were made. @default those of the last response that has any */
  readonly calls?: (episode: Episode) => readonly MadeCall[];
  /** The functions, for names and types of parameters. @default the tools of the captured calls */
  readonly tools?: (task: Task<Metadata>) => readonly ToolDefinition[];
  /** Whether the order of the calls counts. @default false */
  readonly ordered?: boolean;
}

function lastCalls(episode: Episode): readonly MadeCall[] {
  const responses = episode.trajectories.flatMap(({ steps }) =>
    steps.map(({ trace }) => trace.response.toolCalls ?? []),
  );
  return responses.findLast((calls) => calls.length > 0) ?? [];
}

/**
 * 1 where the calls are the expected ones by the rules of the Berkeley Function-Calling Leaderboard, else
 * 0: as many calls, the same names, all required parameters, none that is unexpected, and values of the
 * right type among the accepted ones. Texts are compared without case, spaces and `,./-_*^`. Parallel
 * calls match in any order. A dot in a name equals an underscore.
 *
 * @example
 * const evaluator = functionCalls({
 *   answer: () => [{ get_weather: { city: ["Rome"], unit: ["celsius", ""] } }],
 * });
 */
export function functionCalls<Metadata = unknown>(
  options: FunctionCallsOptions<Metadata> = {},
): SyncScorer<Metadata> {
  const { calls = lastCalls, ordered = false } = options;
  return (task, episode) => {
    const expected = readExpected(task, options.answer);
    const made = calls(episode);
    if (made.length !== expected.length || made.length > maxCalls) {
      return scored(0, { reason: `${made.length} calls instead of ${expected.length}` });
    }
    const parsed = made.map((call) => ({
      name: plainName(call.name),
      values: argumentsOf(call),
    }));
    const shapes = shapesOf(options.tools?.(task) ?? capturedTools(episode));
    const problem = ({ name, accepted }: Expected, index: number): string | null => {
      const call = parsed[index]!;
      if (call.name !== plainName(name))
        return `"${made[index]!.name}" was called instead of "${name}"`;
      if (call.values === null) return `the arguments of "${name}" are not a JSON object`;
      return argumentProblem(call.values, accepted, shapes.get(plainName(name)) ?? null);
    };
    const free = made.map((_call, index) => index);
    for (const [position, one] of expected.entries()) {
      const candidates = ordered ? [position] : free;
      const problems = candidates.map((index) => problem(one, index));
      const at = problems.indexOf(null);
      if (at === -1) return scored(0, { reason: problems[0] ?? `"${one.name}" was not called` });
      if (!ordered) free.splice(at, 1);
    }
    return scored(1);
  };
}

interface Expected {
  readonly name: string;
  readonly accepted: AcceptedArguments;
}

/** OpenAI's interface has no dots in names, so clients send underscores. */
const plainName = (name: string): string => name.replaceAll(".", "_");

function argumentsOf({ arguments: given }: MadeCall): ReadonlyMap<string, ExactJson> | null {
  if (typeof given === "string")
    return given.length > maxArgumentChars ? null : readArguments(given);
  const value = exactOf(given);
  return value instanceof Map ? value : null;
}

function readExpected<Metadata>(
  task: Task<Metadata>,
  answer?: (task: Task<Metadata>) => readonly ExpectedCall[] | string,
): readonly Expected[] {
  const found: unknown = answer === undefined ? fieldOf(task, "answer") : answer(task);
  if (found === undefined || found === null) {
    throw noReference(task, answer === undefined ? "answer" : undefined);
  }
  const value = exactReference(found, task.id);
  const list = Array.isArray(value) ? (value as readonly ExactJson[]) : [value];
  return list.map((one): Expected => {
    const [[name, accepted] = ["", null], ...others] = one instanceof Map ? one : [];
    if (
      accepted instanceof Map &&
      others.length === 0 &&
      [...accepted.values()].every(Array.isArray)
    )
      return { name, accepted: accepted as AcceptedArguments };
    throw evaluatorError(
      `An expected call of task "${task.id}" is ${writeExact(one).slice(0, 100)}.`,
      'Write each as { name: { parameter: [accepted, ...] } }, with "" among the accepted values of an optional one.',
      { taskId: task.id },
    );
  });
}

const capturedTools = (episode: Episode): readonly ToolDefinition[] =>
  episode.trajectories.flatMap(({ steps }) => steps.flatMap(({ trace }) => trace.tools));

function shapesOf(tools: readonly ToolDefinition[]): ReadonlyMap<string, FunctionShape> {
  return new Map(
    tools.flatMap(({ name, parameters }): [string, FunctionShape][] => {
      const { properties, required } = parameters ?? {};
      if (typeof properties !== "object" || properties === null) return [];
      const names = Array.isArray(required) ? required.map(String) : [];
      return [
        [
          plainName(name),
          { properties: properties as FunctionShape["properties"], required: names },
        ],
      ];
    }),
  );
}
