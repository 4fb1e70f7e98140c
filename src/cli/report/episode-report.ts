/** One recorded rollout as a person reads it: the conversation, what each call took, and the score. */
import { inspect } from "node:util";
import type { Episode, Step } from "../../core/trajectory.ts";
import { type Colors, safeText } from "../terminal/terminal.ts";
import { formatEpisode } from "../terminal/transcript.ts";

function callLine({ trace }: Step, number: number): string {
  const {
    promptIds,
    responseIds,
    usage,
    stopReason,
    startedAt,
    finishedAt,
    malformed,
    unmet,
    unenforced,
    sideCall,
  } = trace;
  const prompt = usage?.promptTokens ?? promptIds.length;
  const response = usage?.completionTokens ?? responseIds.length;
  const seconds = ((finishedAt - startedAt) / 1000).toFixed(1);
  const tools =
    trace.tools.length === 0 ? [] : [`tools ${trace.tools.map(({ name }) => name).join(", ")}`];
  const parts = [
    `call ${number}: ${prompt} prompt tokens, ${response} response tokens, ${seconds} s`,
    `stop reason ${stopReason}`,
    ...tools,
    ...(malformed === undefined ? [] : [`malformed: ${malformed}`]),
    ...(unmet === undefined ? [] : [`not as requested: ${unmet}`]),
    ...(unenforced === undefined ? [] : [`not enforced: ${unenforced.join(", ")}`]),
    ...(sideCall === undefined ? [] : [`side call by the rule "${sideCall}"`]),
  ];
  return safeText(parts.join("; "));
}

const shown = (value: unknown): string =>
  typeof value === "string" ? value : inspect(value, { depth: 4, breakLength: 100 });

/** With a trailing newline. */
export function formatEpisodeReport(episode: Episode, colors: Colors, isVerbose = false): string {
  const { metrics, output, error, isCorrect, reward, terminationReason } = episode;
  const steps = episode.trajectories.flatMap((trajectory) => trajectory.steps);
  const signals = Object.entries(metrics).flatMap(([name, value]) =>
    name.startsWith("signal/") ? [`${name.slice("signal/".length)} ${value}`] : [],
  );
  const verdict = isCorrect === null ? "" : isCorrect ? ", correct" : ", incorrect";
  const rows: (readonly [string, string])[] = [
    ...steps.map((step, i) => [i === 0 ? "calls" : "", callLine(step, i + 1)] as const),
    ...(output === undefined ? [] : [["output", safeText(shown(output))] as const]),
    ["score", `${reward === null ? "none" : `reward ${reward}`}${verdict}`],
    ...(signals.length === 0 ? [] : [["signals", safeText(signals.join(", "))] as const]),
    ["ended", safeText(terminationReason)],
  ];
  const details = rows.map(([name, text]) => `  ${colors.dim(name.padEnd(9))} ${text}`);
  const stack = isVerbose && error?.stack !== undefined ? [safeText(error.stack)] : [];
  return `${formatEpisode(episode, colors)}${[...details, ...stack].join("\n")}\n`;
}
