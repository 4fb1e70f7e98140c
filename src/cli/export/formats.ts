/** The formats of `agent-trainer export`, by name: episodes in, one JSON document after the other out. */
import type { Episode } from "../../core/trajectory.ts";
import { atifDocuments } from "./atif.ts";
import { chatRows, type OnDamage, preferenceRows } from "./conversations.ts";
import { otelDocument } from "./open-telemetry.ts";
import { trackioDocuments } from "./trackio.ts";
import { trainingTraces } from "./training-trace.ts";

interface ExportOptions {
  /** Smallest reward of a conversation in `chat`; null: correct episodes. */
  readonly minReward: number | null;
  /** Version of this package. */
  readonly version: string;
  readonly onDamage: OnDamage;
}

type Format = (episodes: Iterable<Episode>, options: ExportOptions) => Iterable<object>;

export const exportFormatNames = [
  "atif",
  "training-trace",
  "otel",
  "trackio",
  "chat",
  "pairs",
] as const;
export type ExportFormat = (typeof exportFormatNames)[number];

const each = (write: (episode: Episode, options: ExportOptions) => readonly object[]): Format =>
  function* documents(episodes, options) {
    for (const episode of episodes) yield* write(episode, options);
  };

const hasCalls = ({ trajectories }: Episode): boolean =>
  trajectories.some(({ steps }) => steps.length > 0);

export const exportFormats: Readonly<Record<ExportFormat, Format>> = {
  atif: each((episode, { version }) => atifDocuments(episode, version)),
  "training-trace": each((episode) => trainingTraces(episode)),
  otel: each((episode, { version }) => (hasCalls(episode) ? [otelDocument(episode, version)] : [])),
  trackio: each((episode) => trackioDocuments(episode)),
  chat: each((episode, { minReward, onDamage }) => chatRows(episode, minReward, onDamage)),
  pairs: (episodes, { onDamage }) => preferenceRows(episodes, onDamage),
};
