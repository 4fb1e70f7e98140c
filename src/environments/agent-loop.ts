/** The agent of an environment where the user has none: offers the tools to the model, and calls them. */
import type { AgentConfig } from "../core/agent.ts";
import type { EnvironmentResult } from "../core/environment.ts";
import {
  defineEpisode,
  defineTrajectory,
  type EpisodeReport,
  type StepReport,
} from "../core/report.ts";
import type { Task } from "../core/task.ts";
import type { TerminationReason } from "../core/trajectory.ts";
import {
  callModel,
  type ModelOutput,
  type WireMessage,
  type WireToolCall,
} from "../rollouts/workflow/model-call.ts";
import { defined } from "../util/defined.ts";
import type { TrackedEpisode } from "./episode/tracked-episode.ts";
import { parseObject } from "../util/json-object.ts";

/** Options of {@link runEnvironmentAgent}. */
export interface AgentLoopOptions {
  /** Maximum number of model calls. @default 20 */
  readonly maxTurns?: number;
  /** A system message before the environment's prompt. @default none */
  readonly systemPrompt?: string | null;
}

/**
 * Runs one episode to its end: model, tools, model, ... Ends with `env_done`, `max_turns_exceeded` or
 * `max_response_length_exceeded`.
 */
export async function runEnvironmentAgent(
  _task: Task,
  config: Pick<AgentConfig, "baseUrl" | "apiKey" | "model" | "signal">,
  episode: TrackedEpisode,
  { maxTurns = 20, systemPrompt = null }: AgentLoopOptions = {},
): Promise<EpisodeReport> {
  const messages: WireMessage[] = [
    ...(systemPrompt === null ? [] : [{ role: "system", content: systemPrompt }]),
    ...episode.prompt.map((message) => ({ ...message })),
  ];
  const tools = episode.tools.map((tool) => ({ type: "function", function: tool }));
  const options = tools.length === 0 ? {} : { tools };
  const steps: StepReport[] = [];
  let output = "";
  let terminationReason: TerminationReason = "max_turns_exceeded";
  for (let turn = 0; turn < maxTurns; turn++) {
    // Turns depend on each other.
    // oxlint-disable-next-line no-await-in-loop
    const response = await callModel(config, config, messages, options);
    messages.push(response.message);
    output = response.content;
    // oxlint-disable-next-line no-await-in-loop
    const { reward, done, replies } = await act(response, episode, config.signal);
    messages.push(...replies);
    steps.push({ responseId: response.responseId, choice: 0, ...defined({ reward }), done });
    if (done || response.finishReason === "length") {
      terminationReason = done ? "env_done" : "max_response_length_exceeded";
      break;
    }
  }
  const { reward: atEnd } = await episode.finish(config.signal);
  addToLast(steps, atEnd);
  const { reward, signals = [] } = episode.score();
  return defineEpisode({
    output,
    terminationReason,
    metrics: episode.metrics(),
    trajectories: [
      defineTrajectory({
        name: "agent",
        reward,
        steps,
        signals: Object.fromEntries(signals.map(({ name, value }) => [name, value])),
      }),
    ],
  });
}

/** What the end gave is part of the last step's reward, where steps have rewards. */
function addToLast(steps: StepReport[], reward: number | undefined): void {
  const last = steps.at(-1);
  if (
    last === undefined ||
    reward === undefined ||
    steps.every((step) => step.reward === undefined)
  )
    return;
  steps[steps.length - 1] = { ...last, reward: (last.reward ?? 0) + reward };
}

interface Acted {
  /** undefined where the environment gave none, which is not 0. */
  readonly reward: number | undefined;
  readonly done: boolean;
  readonly replies: readonly WireMessage[];
}

/** What the environment says to a response: one message for each tool call, or one to its text. */
async function act(
  { content, toolCalls, finishReason }: ModelOutput,
  episode: TrackedEpisode,
  signal: AbortSignal,
): Promise<Acted> {
  if (toolCalls.length === 0) {
    // A text that was cut off is not what the model wanted to say.
    if (finishReason === "length") return { reward: undefined, done: false, replies: [] };
    const { text, reward, done = false } = await episode.respond(content, signal);
    return { reward, done, replies: done ? [] : [{ role: "user", content: text }] };
  }
  const replies: WireMessage[] = [];
  let sum: number | undefined;
  for (const call of toolCalls) {
    // Tools of one environment act on one state, in the order in which the model called them.
    // oxlint-disable-next-line no-await-in-loop
    const { text, reward } = await callTool(call, episode, signal);
    replies.push({ role: "tool", tool_call_id: call.id, content: text });
    if (reward !== undefined) sum = (sum ?? 0) + reward;
    if (episode.isDone) break;
  }
  return { reward: sum, done: episode.isDone, replies };
}

async function callTool(
  { function: { name, arguments: json } }: WireToolCall,
  episode: TrackedEpisode,
  signal: AbortSignal,
): Promise<EnvironmentResult> {
  const args = parseObject(json === "" ? "{}" : json);
  if (args === null)
    return { text: "The arguments of this call are not a JSON object.", isError: true };
  return await episode.call(name, args, signal);
}
