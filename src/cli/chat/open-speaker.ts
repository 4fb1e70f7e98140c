/** Loads what a chat is with: a model, or an agent on it. */
import { loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import { openAgentSession, type AgentSession } from "../../launch/evaluate/agent-session.ts";
import { createModelServer } from "../../launch/serve/model-server.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import type { CliIo } from "../terminal/io.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { modelSpeaker } from "./model-speaker.ts";
import type { ChatOptions, Speaker } from "./speaker.ts";
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
  readonly quiet?: boolean | undefined;
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
export async function openSpeaker(
  options: SpeakerOptions,
  io: CliIo,
  signal: AbortSignal,
): Promise<Speaker> {
  const { agent, model, quiet = false } = options;
  const { yellow, dim } = colorsFor(io.stderr);
  const loading = {
    signal,
    onPull: createPullProgress(io.stderr),
    onWarning: (message: string) => io.stderr.write(`${yellow("warning:")} ${message}\n`),
  };
  if (!quiet) io.stderr.write(dim(`loading ${model} ...\n`));
  if (agent === undefined) {
    return modelSpeaker(await createModelServer({ models: [model], ...loading }), options);
  }
  const config = agentConfig(agent, options);
  return agentSpeaker(model, await openAgentSession({ config, model, ...loading }));
}
