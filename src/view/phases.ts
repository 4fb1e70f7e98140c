/** Phases of a run's episodes. Pure. */
import type { EpisodePhase } from "./api/episodes.ts";

const phases: readonly EpisodePhase[] = ["validation", "evaluation", "train"];

export const isPhase = (text: string): text is EpisodePhase =>
  phases.some((phase) => phase === text);

export interface PhaseSteps {
  readonly phase: EpisodePhase;
  /** Steps that have episodes of it. */
  readonly steps: number;
}

/** The one whose tasks come back at each step: validations where there are two, else what has the most steps. */
export function mainPhase(known: readonly PhaseSteps[]): EpisodePhase {
  const repeated = phases.find((phase) =>
    known.some((one) => one.phase === phase && one.steps > 1),
  );
  return repeated ?? phases.find((phase) => known.some((one) => one.phase === phase)) ?? "train";
}
