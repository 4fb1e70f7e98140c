/** What this backend supports on one server: the row of the matrix, without what that server does differently. */
import type { BackendCapabilities } from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import type { LossName } from "../../core/loss.ts";
import type { ServerProfile } from "./server-profile.ts";

/** Losses that the server would compute otherwise; the trainer computes them instead. */
function unusable({ weighsPolicyLosses, reduction }: ServerProfile): readonly LossName[] {
  return [
    // Its quadratic term does not know advantages, so that prompts would count without weights.
    ...(weighsPolicyLosses ? [] : (["dro"] as const)),
    // A mean over the weights of each sequence is another loss than most aggregations ask for.
    ...(reduction === "sum" ? [] : (["cross_entropy"] as const)),
  ];
}

/** `profile` is null before the server was asked. */
export function capabilitiesOn(profile: ServerProfile | null): BackendCapabilities {
  const row = capabilityMatrix.tinker;
  if (profile === null) return row;
  const without = unusable(profile);
  return {
    ...row,
    losses: row.losses.filter((name) => !without.includes(name)),
    // Samples under way would go on from weights that are being changed.
    servesWhileTraining: row.servesWhileTraining === true && !profile.samplesWhatIsTrained,
  };
}
