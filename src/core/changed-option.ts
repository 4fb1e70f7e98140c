/** An option of a run that is not the default. */
export interface ChangedOption {
  /** Dotted. */
  readonly key: string;
  /** As JSON. */
  readonly value: string;
  /** As JSON; null for one that has no default. */
  readonly default: string | null;
}
