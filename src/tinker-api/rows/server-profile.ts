/** What a Tinker server does with losses, where servers differ. */

/**
 * How token losses become the loss: `sum` over all of them, as in the Tinker service;
 * `sequence-mean`: each sequence divided by the sum of its weights, and the gradient by the number of
 * sequences.
 */
export type Reduction = "sum" | "sequence-mean";

export interface ServerProfile {
  readonly reduction: Reduction;
  /** `weights` multiply the token losses of policy losses, too. */
  readonly weighsPolicyLosses: boolean;
  /** Samplers share the adapter that is trained: only the newest may be used, and not during training. */
  readonly samplesWhatIsTrained: boolean;
}
