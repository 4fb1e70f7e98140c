/**
 * What this backend supports on one server: its row of the capability matrix, without what that
 * server does differently.
 */
import type { BackendCapabilities } from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import type { LossName } from "../../core/loss/loss.ts";
import type { ServerTraits } from "../datum/server-traits.ts";

/** Losses that the server would compute differently; the trainer computes them instead. */
function unusable({ weighsPolicyLosses, reduction }: ServerTraits): readonly LossName[] {
  return [
    // Its quadratic term ignores advantages, so prompts would count without weights.
    ...(weighsPolicyLosses ? [] : (["dro"] as const)),
    // A mean over the weights of each sequence is a different loss than most aggregations request.
    ...(reduction === "sum" ? [] : (["cross_entropy"] as const)),
  ];
}

/** `traits` are null before the server has been probed. */
export function capabilitiesOn(traits: ServerTraits | null): BackendCapabilities {
  const row = capabilityMatrix.tinker;
  if (traits === null) return row;
  const without = unusable(traits);
  return {
    ...row,
    losses: row.losses.filter((name) => !without.includes(name)),
    // Samples in flight would continue with weights that are being changed.
    servesWhileTraining: row.servesWhileTraining === true && !traits.samplesWhatIsTrained,
  };
}
