/** What the index holds of an episode. */
import type { Episode } from "../../core/trajectory.ts";
import type { EpisodePhase } from "../api/episodes.ts";
import type { ViewMessage } from "../api/conversation.ts";
import { messageText } from "../../core/message-text.ts";
import { viewTrajectories } from "../episode/conversation.ts";

/** Text of an episode that is searched; the rest is not. */
const searchedCharacters = 2 ** 18;
const previewCharacters = 160;
/** Of the numbers that an evaluator reports, among an episode's metrics. */
const signalPrefix = "signal/";

/** Values in the order of the columns of `episodes` after `bytes`. */
export interface IndexRow {
  readonly values: readonly (string | number | null)[];
  readonly calls: number;
  readonly ended: string;
  readonly text: string;
}

export const indexColumns =
  "id, step, phase, task, question, rollout, reward, correct, ended, error, calls, prompt_tokens, response_tokens, tool_calls, tool_errors, truncated, malformed, seconds, weight_version, preview, signals";

const numberOr = (value: unknown, other: number): number =>
  typeof value === "number" && Number.isFinite(value) ? value : other;

const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** What a column can hold: others become null. */
const columnOf = (value: unknown): string | number | null =>
  typeof value === "string" || (typeof value === "number" && Number.isFinite(value)) ? value : null;

/** Parts of the reward as JSON; null where there are none. */
function signalsOf({ metrics }: Episode): string | null {
  const found = Object.entries(metrics ?? {}).flatMap(([name, value]) =>
    name.startsWith(signalPrefix) && Number.isFinite(value)
      ? [[name.slice(signalPrefix.length), value] as const]
      : [],
  );
  return found.length === 0 ? null : JSON.stringify(Object.fromEntries(found));
}

/** A response that only calls a tool shows the call. */
function previewOf({ text, toolCalls = [] }: ViewMessage, before: string): string {
  if (text.trim() !== "") return text;
  const [first] = toolCalls;
  return first === undefined ? before : `${first.name}(${first.arguments})`;
}

export function indexRow(episode: Episode, step: number, phase: EpisodePhase): IndexRow {
  const texts: string[] = [asText(episode.task.instruction)];
  let [prompt, response, toolCalls, toolErrors, truncated, malformed, seconds] = [
    0, 0, 0, 0, 0, 0, 0,
  ];
  let [calls, preview, version] = [0, "", null as number | null];
  for (const { calls: viewed } of viewTrajectories(episode)) {
    for (const call of viewed) {
      calls++;
      prompt += numberOr(call.promptTokens, 0);
      response += numberOr(call.responseTokens, 0);
      seconds += call.seconds;
      if (call.stopReason === "length") truncated++;
      version = call.weightVersion ?? version;
      for (const message of call.newMessages) {
        if (message.role !== "tool") continue;
        if (message.isToolError === true) toolErrors++;
        texts.push(message.text);
      }
      for (const { name, arguments: given } of call.response.toolCalls ?? []) {
        toolCalls++;
        texts.push(name, given);
      }
      texts.push(call.response.reasoning ?? "", call.response.text);
      preview = previewOf(call.response, preview);
    }
  }
  for (const trajectory of episode.trajectories)
    for (const { trace } of trajectory.steps) if (trace.malformed !== undefined) malformed++;
  const { error, isCorrect } = episode;
  if (error !== undefined) texts.push(error.message);
  const ended = asText(episode.terminationReason) || "unknown";
  const message = error === undefined ? null : `${error.name}: ${error.message}`.slice(0, 500);
  const shown = preview === "" ? messageText(asText(episode.output)) : preview;
  return {
    values: [
      episode.id,
      step,
      phase,
      episode.task.id,
      asText(episode.task.instruction).slice(0, previewCharacters).replaceAll(/\s+/gu, " "),
      numberOr(episode.rolloutIndex, 0),
      typeof episode.reward === "number" ? episode.reward : null,
      typeof isCorrect === "boolean" ? Number(isCorrect) : null,
      ended,
      message,
      calls,
      prompt,
      response,
      toolCalls,
      toolErrors,
      truncated,
      malformed,
      seconds,
      version,
      shown.slice(0, previewCharacters).replaceAll(/\s+/gu, " "),
      signalsOf(episode),
    ].map(columnOf),
    calls,
    ended,
    text: texts.join("\n").slice(0, searchedCharacters),
  };
}
