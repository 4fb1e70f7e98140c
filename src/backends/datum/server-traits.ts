/** What a server does with losses and snapshots, where servers of the protocol differ. */

/**
 * How token losses become the loss: `sum` over all of them, as in the services;
 * `sequence-mean`: each sequence divided by the sum of its weights, and the gradient by the number of
 * sequences.
 */
export type Reduction = "sum" | "sequence-mean";

export interface ServerTraits {
  readonly reduction: Reduction;
  /** `weights` multiply the token losses of policy losses, too. */
  readonly weighsPolicyLosses: boolean;
  /** Samplers share the adapter that is trained: only the newest may be used, and not during training. */
  readonly samplesWhatIsTrained: boolean;
}
