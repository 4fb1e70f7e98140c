/** Loads what a chat is with: a model or an agent on it, and where that was asked for what it was before. */
import { loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import { openAgentSession, type AgentSession } from "../../launch/evaluate/agent-session.ts";
import { locateModel } from "../../launch/evaluate/locate-model.ts";
import { createModelServer } from "../../launch/serve/model-server.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import type { CliIo } from "../terminal/io.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { modelSpeaker } from "./model-speaker.ts";
import type { ChatOptions, Speaker } from "./speaker.ts";
import type { Speakers } from "./talk.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { ViewMessage } from "../../view/api/conversation.ts";
import { toolCallTexts } from "../../view/episode/conversation.ts";
import { conversationOf } from "../../view/episode/view-episode.ts";

function textsOf(message: ViewMessage): string[] {
  const { role, text } = message;
  if (role === "tool") return [`← ${text}`];
  return [...(text.trim() === "" ? [] : [text]), ...toolCallTexts(message)];
}

/** What the model said, the tools it called, and what these returned; the request itself is not repeated. */
function episodeText(episode: Episode): string {
  const { trajectories, output, error } = conversationOf(episode);
  const said = trajectories.flatMap(({ calls }) =>
    calls.flatMap(({ newMessages, response }, i) =>
      [...(i === 0 ? [] : newMessages), response].flatMap(textsOf),
    ),
  );
  const result = output === "" || output === said.at(-1)?.trim() ? [] : [`= ${output}`];
  const lines = [...said, ...result, ...(error === null ? [] : [`error: ${error}`])];
  return lines.length === 0 ? "(nothing)" : lines.join("\n");
}

/** Disposing of it closes the session. */
const agentSpeaker = (name: string, session: AgentSession): Speaker => ({
  name,
  async *respond(request, signal) {
    yield episodeText(await session.run(request, signal));
  },
  // Every line is a new task.
  reset: () => {},
  [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
});

export interface SpeakerOptions extends ChatOptions {
  readonly model: string;
  /** Configuration whose agent answers. */
  readonly agent?: string | undefined;
  /** Another model, or `true` for what the run in `model` started from. */
  readonly before?: string | true | undefined;
  readonly quiet?: boolean | undefined;
}

/** @throws ConfigError for a model that is no run, so that nothing says what it was before */
async function startOf(model: string): Promise<string> {
  const located = await locateModel(model);
  if (located.kind === "checkpoint") return located.config.model.name;
  throw new ConfigError({
    message: `${model} is no run, so it is not known what it was before training.`,
    hint: `Name that model: agent-trainer chat ${model} --before MODEL. agent-trainer runs list shows the runs of a folder.`,
    fields: { option: "--before", model },
  });
}

function agentConfig(file: string, { system, temperature, maxTokens }: ChatOptions) {
  if (system !== undefined) {
    throw new ConfigError({
      message: "--system cannot be combined with --agent: an agent has its own system prompt.",
      hint: "Remove one of them.",
    });
  }
  const overrides = [
    "model.name=chat",
    ...(temperature === undefined ? [] : [`rollout.val.temperature=${temperature}`]),
    ...(maxTokens === undefined ? [] : [`rollout.val.max_tokens=${maxTokens}`]),
  ];
  return loadConfig({ file, overrides }).config;
}

/** @throws ConfigError, ModelError, CheckpointError, HubError for what cannot be loaded */
export async function openSpeakers(
  options: SpeakerOptions,
  io: CliIo,
  signal: AbortSignal,
): Promise<Speakers> {
  const { agent, before, model, quiet = false } = options;
  const { yellow, dim } = colorsFor(io.stderr);
  const loading = {
    signal,
    onPull: createPullProgress(io.stderr),
    onWarning: (message: string) => io.stderr.write(`${yellow("warning:")} ${message}\n`),
  };
  const open = async (name: string): Promise<Speaker> => {
    if (!quiet) io.stderr.write(dim(`loading ${name} ...\n`));
    if (agent === undefined) {
      const server = await createModelServer({ models: [name], ...loading });
      return modelSpeaker(server, before === undefined ? undefined : name, options);
    }
    const config = agentConfig(agent, options);
    return agentSpeaker(name, await openAgentSession({ config, model: name, ...loading }));
  };
  if (before === undefined) return [await open(model)];
  const first = await open(before === true ? await startOf(model) : before);
  try {
    return [first, await open(model)];
  } catch (error) {
    await first[Symbol.asyncDispose]();
    throw error;
  }
}
