/** The formats of `agent-trainer export`, by name: episodes in, one JSON document after the other out. */
import type { Episode } from "../../core/trajectory.ts";
import { atifDocuments } from "./atif.ts";
import { chatRows, type OnDamage, preferenceRows } from "./conversations.ts";

interface ExportOptions {
  /** Smallest reward of a conversation in `chat`; null: correct episodes. */
  readonly minReward: number | null;
  /** Version of this package. */
  readonly version: string;
  readonly onDamage: OnDamage;
}

type Format = (episodes: Iterable<Episode>, options: ExportOptions) => Iterable<object>;

export const exportFormatNames = ["atif", "chat", "pairs"] as const;
export type ExportFormat = (typeof exportFormatNames)[number];

export const exportFormats: Readonly<Record<ExportFormat, Format>> = {
  *atif(episodes, { version }) {
    for (const episode of episodes) yield* atifDocuments(episode, version);
  },
  *chat(episodes, { minReward, onDamage }) {
    for (const episode of episodes) yield* chatRows(episode, minReward, onDamage);
  },
  pairs: (episodes, { onDamage }) => preferenceRows(episodes, onDamage),
};
