/** What happened in an episode, as text for a judge. */
import type { ChatMessage } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import type { Episode } from "../../core/trajectory.ts";
import { responseText } from "../scorer.ts";

function lineOf({ role, content, toolCalls }: ChatMessage): string {
  const calls = (toolCalls ?? []).map((call) => `[tool call] ${call.name}(${call.arguments})`);
  return [`[${role}] ${messageText(content)}`.trimEnd(), ...calls].join("\n");
}

/** The messages of each trajectory's last call with its response, and what the agent returned. */
export function transcript(episode: Episode): string {
  const conversations = episode.trajectories.flatMap(({ name, steps }) => {
    const last = steps.at(-1);
    if (last === undefined) return [];
    const lines = [...last.trace.messages, last.trace.response].map(lineOf);
    return [[`Trajectory "${name}":`, ...lines].join("\n")];
  });
  const output =
    episode.output === undefined || episode.output === null ? "" : responseText(episode);
  return [...conversations, ...(output === "" ? [] : [`Result: ${output}`])].join("\n\n");
}

/** Cuts out the middle of a text. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters omitted]\n${text.slice(text.length - half)}`;
}
