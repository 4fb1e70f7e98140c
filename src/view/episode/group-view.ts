/** The rollouts of a task side by side, and the token at which each parts from the first. */
import type { Episode } from "../../core/trajectory.ts";
import type { EpisodeRow, GroupMember, RolloutView } from "../api.ts";
import { messageText } from "../../core/message-text.ts";
import { toolCallTexts } from "./conversation.ts";
import { type DecodeTokens, tokenTexts } from "./token-view.ts";

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

function callsOf(episode: Episode | null, decode: DecodeTokens | null): Call[] {
  if (episode === null) return [];
  return episode.trajectories.flatMap(({ steps }) =>
    steps.map(({ trace }) => {
      const ids = Array.from(trace.responseIds ?? []);
      return {
        text: [messageText(trace.response.content), ...toolCallTexts(trace.response)]
          .filter((text) => text !== "")
          .join("\n"),
        ids,
        texts: tokenTexts(ids, decode),
      };
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

/** @param episodes in the order of the rows; null where one can no longer be read */
export function groupView(
  rows: readonly EpisodeRow[],
  episodes: readonly (Episode | null)[],
  decode: DecodeTokens | null,
): GroupMember[] {
  const rewards = rows.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(1, rewards.length);
  const all = episodes.map((episode) => callsOf(episode, decode));
  return rows.map((row, i) => ({
    row,
    advantage: row.reward === null ? null : row.reward - mean,
    calls: all[i] ?? [],
    firstDifference: i === 0 ? null : difference(all[i] ?? [], all[0] ?? []),
  }));
}
