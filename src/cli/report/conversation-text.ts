/** An episode in the terminal: its conversation, what each call took, and the score. */
import type {
  Conversation,
  ViewCall,
  ViewMessage,
  ViewTrajectory,
} from "../../view/api/conversation.ts";
import { toolCallTexts } from "../../view/episode/conversation.ts";
import { type Colors, safeText } from "../terminal/terminal.ts";

const maxTextLength = 1200;

function clipped(text: string): string {
  const safe = safeText(text).trim();
  return safe.length <= maxTextLength ? safe : `${safe.slice(0, maxTextLength)} …`;
}

const indented = (text: string): string => text.replaceAll("\n", "\n            ");

function messageLines(message: ViewMessage, colors: Colors): string[] {
  const { role, text, reasoning, isToolError = false } = message;
  const paint = {
    system: colors.dim,
    user: colors.cyan,
    assistant: colors.green,
    tool: isToolError ? colors.red : colors.yellow,
  }[role];
  const said = [
    ...(reasoning === undefined ? [] : [colors.dim(clipped(reasoning))]),
    ...(text.trim() === "" ? [] : [clipped(text)]),
    ...toolCallTexts(message).map(clipped),
  ];
  const shown = said.length === 0 ? [colors.dim("(empty)")] : said;
  return shown.map((part) => `  ${paint(role.padEnd(9))} ${indented(part)}`);
}

function callLines(call: ViewCall, { threads }: ViewTrajectory, colors: Colors): string[] {
  const thread = threads[call.thread];
  const isNewThread = threads.length > 1 && thread?.calls[0] === call.k;
  return [
    ...(isNewThread ? [`  ${colors.dim(`(${safeText(thread.name)})`)}`] : []),
    ...(call.break === undefined
      ? []
      : [`  ${colors.red(safeText(`prefix break at call ${call.k + 1}: ${call.break}`))}`]),
    ...[...call.newMessages, call.response].flatMap((message) => messageLines(message, colors)),
  ];
}

/** What was said, each message once, with a trailing newline. */
export function formatConversation(conversation: Conversation, colors: Colors): string {
  const { task, reward, trajectories, failedCalls, error } = conversation;
  const score = reward === null ? "none" : Number(reward.toFixed(3));
  const lines = [
    colors.bold(`task ${safeText(task)}   reward ${score}`),
    ...trajectories.flatMap((trajectory) => [
      ...(trajectories.length > 1 ? [`  ${colors.dim(`[${safeText(trajectory.name)}]`)}`] : []),
      ...trajectory.calls.flatMap((call) => callLines(call, trajectory, colors)),
    ]),
    ...[failedCalls, error].flatMap((what) =>
      what === null ? [] : [`  ${colors.red(safeText(what))}`],
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function callFacts(call: ViewCall): string {
  const { k, promptTokens, responseTokens, seconds, stopReason, tools, notes } = call;
  const facts = [
    `call ${k + 1}: ${promptTokens} prompt tokens, ${responseTokens} response tokens, ${seconds.toFixed(1)} s`,
    `stop reason ${stopReason}`,
    ...(tools.length === 0 ? [] : [`tools ${tools.join(", ")}`]),
    ...notes,
  ];
  return safeText(facts.join("; "));
}

/** The conversation, then what is known of its calls and its end. */
export function formatEpisode(
  conversation: Conversation,
  colors: Colors,
  isVerbose = false,
): string {
  const { trajectories, output, reward, isCorrect, isBad, signals, ended, errorStack } =
    conversation;
  const calls = trajectories.flatMap((trajectory) => trajectory.calls);
  const reported = Object.entries(signals).map(([name, value]) => `${name} ${value}`);
  const verdict = isCorrect === null ? "" : isCorrect ? ", correct" : ", incorrect";
  const score = `${reward === null ? "none" : `reward ${reward}`}${verdict}`;
  const paint = isBad ? colors.red : isCorrect === true ? colors.green : String;
  const rows: (readonly [string, string])[] = [
    ...calls.map((call, i) => [i === 0 ? "calls" : "", callFacts(call)] as const),
    ...(output === "" ? [] : [["output", safeText(output)] as const]),
    ["score", paint(score)],
    ...(reported.length === 0 ? [] : [["signals", safeText(reported.join(", "))] as const]),
    ["ended", safeText(ended)],
  ];
  const details = rows.map(([name, text]) => `  ${colors.dim(name.padEnd(9))} ${text}`);
  const stack = isVerbose && errorStack !== null ? [safeText(errorStack)] : [];
  return `${formatConversation(conversation, colors)}${[...details, ...stack].join("\n")}\n`;
}
