/** An episode's conversation, readable in a terminal. Model output is shown without control characters. */
import { describeFailedCalls } from "../../core/failed-call.ts";
import type { ChatMessage } from "../../core/message.ts";
import type { Episode, Step } from "../../core/trajectory.ts";
import { type Colors, safeText } from "./terminal.ts";

const maxTextLength = 1200;

function contentText({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : `[image ${part.url.slice(0, 60)}]`))
    .join("");
}

function clipped(text: string): string {
  const safe = safeText(text).trim();
  return safe.length <= maxTextLength ? safe : `${safe.slice(0, maxTextLength)} …`;
}

const indented = (text: string): string => text.replaceAll("\n", "\n            ");

function messageLines(message: ChatMessage, colors: Colors): string[] {
  const paint = {
    system: colors.dim,
    user: colors.cyan,
    assistant: colors.green,
    tool: colors.yellow,
  }[message.role];
  const lines: string[] = [];
  const say = (text: string): void => {
    lines.push(`  ${paint(message.role.padEnd(9))} ${indented(text)}`);
  };
  const text = clipped(contentText(message));
  if (message.reasoning !== undefined) say(colors.dim(clipped(message.reasoning)));
  if (text !== "") say(text);
  for (const call of message.toolCalls ?? [])
    say(`→ ${clipped(`${call.name}(${call.arguments})`)}`);
  if (lines.length === 0) say(colors.dim("(empty)"));
  return lines;
}

/** Steps whose conversation the next step does not continue. */
function conversations(steps: readonly Step[]): Step[] {
  return steps.filter((step, i) => {
    const next = steps[i + 1];
    return next === undefined || next.trace.messages.length <= step.trace.messages.length;
  });
}

/** One episode as text, with a trailing newline. */
export function formatEpisode(episode: Episode, colors: Colors): string {
  const reward = episode.reward === null ? "none" : Number(episode.reward.toFixed(3));
  const lines = [colors.bold(`task ${safeText(episode.task.id)}   reward ${reward}`)];
  for (const { name, steps } of episode.trajectories) {
    if (episode.trajectories.length > 1) lines.push(`  ${colors.dim(`[${safeText(name)}]`)}`);
    for (const step of conversations(steps)) {
      for (const message of [...step.trace.messages, step.trace.response]) {
        lines.push(...messageLines(message, colors));
      }
    }
  }
  const failed = describeFailedCalls(episode.failedCalls, episode.error);
  if (failed !== null) lines.push(`  ${colors.red(safeText(failed))}`);
  if (episode.error !== undefined) {
    lines.push(`  ${colors.red(safeText(`${episode.error.name}: ${episode.error.message}`))}`);
  }
  return `${lines.join("\n")}\n`;
}
