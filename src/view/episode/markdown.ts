/** An episode as Markdown, to hand to a language model or a colleague. */
import type { Conversation, ViewCall, ViewMessage } from "../api/conversation.ts";
import type { EpisodeRow } from "../api/episodes.ts";
import { visibleText } from "./visible-text.ts";

/** A fence that the text cannot close. */
function fenced(text: string, language = ""): string {
  const runs: readonly string[] = text.match(/`+/gu) ?? [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 0);
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

function messageParts(message: ViewMessage): string[] {
  const title = message.name === undefined ? message.role : `${message.role} (${message.name})`;
  return [
    `### ${title}${message.isToolError === true ? " (error)" : ""}`,
    ...(message.reasoning === undefined ? [] : ["Reasoning:", fenced(message.reasoning)]),
    ...(message.text === "" ? [] : [fenced(message.text)]),
    ...(message.toolCalls ?? []).map(({ name, arguments: given }) =>
      [`Tool call \`${name}\`:`, fenced(given, "json")].join("\n"),
    ),
  ];
}

function callParts(call: ViewCall): string[] {
  const { promptTokens, responseTokens, stopReason, weightVersion, notes } = call;
  const facts = [
    `${promptTokens} prompt tokens`,
    `${responseTokens} response tokens`,
    `stop reason ${stopReason}`,
    ...(weightVersion === null ? [] : [`weights ${weightVersion}`]),
    ...notes,
  ];
  return [
    ...(call.break === undefined ? [] : [`> Prefix break: ${call.break}`]),
    ...call.newMessages.flatMap(messageParts),
    ...messageParts(call.response),
    `_Call ${call.k + 1}: ${facts.join(", ")}_`,
  ];
}

type Placed = Conversation & { readonly row: Pick<EpisodeRow, "step" | "phase"> };

/** With a trailing newline, and with what hides or reorders text made visible. */
export function episodeMarkdown(episode: Placed): string {
  const { id, task, row, trajectories, ending, output, signals } = episode;
  const parts = [
    `# Episode ${id}`,
    `Task ${task}, step ${row.step}, ${row.phase}. ${ending}`,
    ...trajectories.flatMap(({ name, calls }) => [
      ...(trajectories.length > 1 ? [`## ${name}`] : []),
      ...calls.flatMap(callParts),
    ]),
    ...(output === "" ? [] : ["### Output", fenced(output)]),
    ...Object.entries(signals).map(([name, value]) => `- signal ${name}: ${value}`),
  ];
  return `${visibleText(parts.join("\n\n").replaceAll("\r\n", "\n"))}\n`;
}
