/** Phases of a run's episodes. Pure. */
import type { EpisodePhase } from "./api.ts";

const phases: readonly EpisodePhase[] = ["validation", "evaluation", "train"];

export const isPhase = (text: string): text is EpisodePhase =>
  phases.some((phase) => phase === text);

/** The one whose tasks come back at each step: of validations, else of training. */
export const mainPhase = (known: readonly EpisodePhase[]): EpisodePhase =>
  phases.find((phase) => known.includes(phase)) ?? "train";
