/** Rounds of improvement next to the runs that are viewed, with what users said of each model since. */
import { dirname } from "node:path";
import { readRounds, roundFolder } from "../../runs/rounds/round-file.ts";
import type { Round } from "../../runs/rounds/round.ts";
import { readHandedOver } from "../../runs/rounds/handed-over.ts";
import type { FeedbackCount, RoundRow } from "../api/runs.ts";
import type { ViewedRun } from "./viewed-run.ts";

/** Feedback in a store, by the version that it is about. */
export type FindFeedback = (store: string) => ReadonlyMap<string, FeedbackCount>;

function rowOf(
  { store, train, ...round }: Round,
  run: number | null,
  inUse: string | null,
  feedbackOf: FindFeedback,
): RoundRow {
  const version = train?.candidate.version ?? null;
  return {
    ...round,
    run,
    train: train ?? null,
    curate: round.curate ?? null,
    gate: round.gate ?? null,
    isNewest: version !== null && version === inUse,
    feedback: version === null ? null : (feedbackOf(store).get(version) ?? null),
  };
}

/** Oldest first, folder by folder; none where the runs are not those of rounds. */
export function roundRows(
  runs: readonly Pick<ViewedRun, "folder" | "key">[],
  feedbackOf: FindFeedback = () => new Map(),
): readonly RoundRow[] {
  const folders = [...new Set(runs.map(({ folder }) => dirname(folder)))];
  return folders.flatMap((folder) => {
    const rounds = readRounds(folder);
    if (rounds.length === 0) return [];
    const inUse = readHandedOver(folder)?.version ?? null;
    return rounds.map((round) => {
      const own = runs.find((run) => run.folder === roundFolder(folder, round.round));
      return rowOf(round, own?.key ?? null, inUse, feedbackOf);
    });
  });
}
