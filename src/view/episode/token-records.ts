/** Finds what a run recorded of a call's tokens when it trained on them (`record.token_rows`). */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { TokenRecord } from "../../core/token-record.ts";
import { tokenFolder } from "../../runs/run-log.ts";
import type { TrainedTokens } from "../api/conversation.ts";
import { findLine } from "../index/file-lines.ts";
import type { KeptTokens } from "./token-view.ts";

/** Steps after that of the episode in which its rows may be trained on: replays and stale rollouts. */
const laterSteps = 8;

const isNumbers = (value: unknown, length: number): value is readonly number[] =>
  Array.isArray(value) &&
  value.length === length &&
  value.every((one) => typeof one === "number" && Number.isFinite(one));

/** Null where the line is damaged, or is of another call with as many tokens. */
function parseRecord(text: string, tokens: number): TrainedTokens | null {
  let value: Partial<TokenRecord> | null;
  try {
    value = JSON.parse(text) as Partial<TokenRecord> | null;
  } catch {
    return null;
  }
  const { step, temperature, mask, logprobs, advantages } = value ?? {};
  const { reference = null, entropy = null, weights = null } = value ?? {};
  const isOptional = (list: unknown): boolean => list === null || isNumbers(list, tokens);
  if (typeof step !== "number" || typeof temperature !== "number") return null;
  if (!isNumbers(mask, tokens) || !isNumbers(logprobs, tokens)) return null;
  if (!isNumbers(advantages, tokens)) return null;
  if (![reference, entropy, weights].every(isOptional)) return null;
  return { step, temperature, mask, logprobs, reference, entropy, advantages, weights };
}

/** Which call of which episode, and how many tokens it sampled. */
export interface WantedTokens {
  readonly episode: string;
  readonly trace: string;
  /** Step of the episode. */
  readonly step: number;
  readonly tokens: number;
}

/** Whether the run recorded tokens at all. */
export const hasTokenRecords = (folder: string): boolean => existsSync(tokenFolder(folder));

/** Null where the run kept nothing of this call. */
export function readTrainedTokens(folder: string, wanted: WantedTokens): TrainedTokens | null {
  if (!hasTokenRecords(folder)) return null;
  const begin = `{"episode":${JSON.stringify(wanted.episode)},"trace":${JSON.stringify(wanted.trace)},`;
  const files = readdirSync(tokenFolder(folder))
    .filter(
      (name) => /^\d+\.jsonl(?:\.gz)?$/u.test(name) && Number.parseInt(name, 10) >= wanted.step,
    )
    .toSorted()
    .slice(0, laterSteps);
  // Lines are written with these keys first, so that the others need not be parsed.
  const line = findLine(
    files.map((name) => join(tokenFolder(folder), name)),
    begin,
  );
  return line === null ? null : parseRecord(line, wanted.tokens);
}

/** Of the calls of one episode. */
export const keptTokens = (
  folder: string,
  { id, step }: { readonly id: string; readonly step: number },
): KeptTokens => ({
  isOn: hasTokenRecords(folder),
  find: (trace, tokens) => readTrainedTokens(folder, { episode: id, trace, step, tokens }),
});
