/** The sampled tokens of a call as a table, with what was kept of training on them. */
import type { TokenView } from "../../view/api/conversation.ts";
import { visibleText } from "../../view/episode/visible-text.ts";
import { safeText } from "../terminal/terminal.ts";
import { formatTable } from "./evaluation-table.ts";

/** Columns of what was recorded while the call was trained on. */
function trainedColumns({ trained }: TokenView): (readonly [string, readonly number[]])[] {
  if (trained === null) return [];
  const { logprobs, reference, entropy, advantages, mask } = trained;
  const all = [
    ["trained", logprobs],
    ["reference", reference],
    ["entropy", entropy],
    ["advantage", advantages],
    ["mask", mask],
  ] as const;
  return all.flatMap(([name, values]) => (values === null ? [] : [[name, values] as const]));
}

/** @param k number of the call, from 0 */
export function formatTokens(tokens: TokenView, k: number): string {
  const { responseIds, responseTexts, logprobs, untrained, notRecorded } = tokens;
  const columns = trainedColumns(tokens);
  const rows = responseIds.map((id, i) => [
    String(i),
    String(id),
    logprobs[i]?.toFixed(4) ?? "-",
    ...columns.map(([name, values]) => (values[i] ?? 0).toFixed(name === "mask" ? 0 : 4)),
    responseTexts === null ? "" : JSON.stringify(visibleText(responseTexts[i] ?? "")),
  ]);
  const notes = [
    ...untrained.map((reason) => `  not trained: ${safeText(reason)}\n`),
    ...notRecorded.map((reason) => `  ${safeText(reason)}\n`),
  ];
  const head = ["", "id", "logprob", ...columns.map(([name]) => name), "text"];
  return `\ncall ${k + 1}\n${notes.join("")}${formatTable([head, ...rows])}`;
}
