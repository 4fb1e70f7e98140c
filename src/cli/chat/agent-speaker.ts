/** The agent of a configuration: each line is a task for it, with its own system prompt and its tools. */
import type { Episode } from "../../core/trajectory.ts";
import type { AgentSession } from "../../launch/evaluate/agent-session.ts";
import type { ViewMessage } from "../../view/api/conversation.ts";
import { toolCallTexts } from "../../view/episode/conversation.ts";
import { conversationOf } from "../../view/episode/view-episode.ts";
import type { Speaker } from "./speaker.ts";

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
export const agentSpeaker = (name: string, session: AgentSession): Speaker => ({
  name,
  async *respond(request, signal) {
    yield episodeText(await session.run(request, signal));
  },
  // Every line is a new task.
  reset: () => {},
  [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
});
