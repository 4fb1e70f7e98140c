/** The rollouts of a task side by side, and the token at which each parts from the first. */
import type { Episode, Step } from "../../core/trajectory.ts";
import type { EpisodeRow } from "../api/episodes.ts";
import type { GroupMember, RolloutView, Sibling, Parting } from "../api/conversation.ts";
import { messageText } from "../../core/message-text.ts";
import { toolCallTexts } from "./conversation.ts";
import { type DecodeTokens, tokenTexts } from "./token-view.ts";

/** Text of each call's response. */
type Texts = readonly string[];

const [before, after] = [24, 40];

/** One line of the text from `from` on. */
function piece(text: string, from: number): string {
  const shown = text.slice(from, from + after).replaceAll(/\s+/gu, " ");
  if (shown === "") return "∎";
  return from + after < text.length ? `${shown}…` : shown;
}

/** Null where all responses have the same text. */
export function parting(own: Texts, other: Texts): Parting | null {
  for (let call = 0; call < Math.max(own.length, other.length); call++) {
    const [a, b] = [own[call] ?? "", other[call] ?? ""];
    if (a === b && own[call] !== undefined && other[call] !== undefined) continue;
    let at = 0;
    while (at < Math.min(a.length, b.length) && a[at] === b[at]) at++;
    // A number or a word that differs is shown whole.
    while (at > 0 && /[\p{L}\p{N}]/u.test(a[at - 1] ?? "")) at--;
    const from = Math.max(0, at - before);
    const shared = `${from > 0 ? "…" : ""}${a.slice(from, at).replaceAll(/\s+/gu, " ")}`;
    return { call, shared, own: piece(a, at), other: piece(b, at) };
  }
  return null;
}

type Call = GroupMember["calls"][number];

function difference(
  calls: readonly Call[],
  first: readonly Call[],
): GroupMember["firstDifference"] {
  for (let call = 0; call < Math.max(calls.length, first.length); call++) {
    const [a, b] = [calls[call]?.ids ?? [], first[call]?.ids ?? []];
    const length = Math.max(a.length, b.length);
    for (let token = 0; token < length; token++) {
      if (a[token] !== b[token]) return { call, token };
    }
    if (calls[call] === undefined || first[call] === undefined) return { call, token: 0 };
  }
  return null;
}

const textOf = ({ trace }: Step): string =>
  [messageText(trace.response.content), ...toolCallTexts(trace.response)]
    .filter((text) => text !== "")
    .join("\n");

function callsOf(episode: Episode | null, decode: DecodeTokens | null): Call[] {
  if (episode === null) return [];
  return episode.trajectories.flatMap(({ steps }) =>
    steps.map((step) => {
      const ids = Array.from(step.trace.responseIds ?? []);
      return { text: textOf(step), ids, texts: tokenTexts(ids, decode) };
    }),
  );
}

/** One rollout alone. */
export function rolloutView(
  row: EpisodeRow,
  episode: Episode,
  decode: DecodeTokens | null,
): RolloutView {
  return { row, calls: callsOf(episode, decode) };
}

/** Of each rollout: its reward less the mean of those that have one. */
function advantagesOf(rows: readonly EpisodeRow[]): readonly (number | null)[] {
  const rewards = rows.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(1, rewards.length);
  return rows.map(({ reward }) => (reward === null ? null : reward - mean));
}

/**
 * The rollouts of a group, best first, without their tokens, which may be megabytes.
 *
 * @param n number of the episode that they are compared with
 */
export function siblingsOf(
  n: number,
  rows: readonly EpisodeRow[],
  episodes: readonly (Episode | null)[],
): Sibling[] {
  const texts = episodes.map(
    (episode) => episode?.trajectories.flatMap(({ steps }) => steps.map(textOf)) ?? [],
  );
  const own = texts[rows.findIndex((row) => row.n === n)] ?? [];
  const advantages = advantagesOf(rows);
  return rows
    .map((row, i) => ({
      row,
      advantage: advantages[i] ?? null,
      parting: row.n === n ? null : parting(own, texts[i] ?? []),
    }))
    .toSorted(
      (a, b) =>
        (b.row.reward ?? -Infinity) - (a.row.reward ?? -Infinity) || a.row.rollout - b.row.rollout,
    );
}

/** @param episodes in the order of the rows; null where one can no longer be read */
export function groupView(
  rows: readonly EpisodeRow[],
  episodes: readonly (Episode | null)[],
  decode: DecodeTokens | null,
): GroupMember[] {
  const advantages = advantagesOf(rows);
  const all = episodes.map((episode) => callsOf(episode, decode));
  return rows.map((row, i) => ({
    row,
    advantage: advantages[i] ?? null,
    calls: all[i] ?? [],
    firstDifference: i === 0 ? null : difference(all[i] ?? [], all[0] ?? []),
  }));
}
