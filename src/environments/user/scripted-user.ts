/** A user who says given lines, for tests and for tasks whose user needs no model. */
import type { UserScript } from "./user-model.ts";

/**
 * The lines in order, then `stop`: as `model` of `userSimulator`. It knows only how many it has said, so one script
 * serves any number of conversations at a time.
 *
 * @example
 * const user = userSimulator({ model: scriptedUser(["How much is a lamp?", "And 3?"]) });
 */
export const scriptedUser =
  (lines: readonly string[], stop = "###STOP###"): UserScript =>
  (messages) =>
    lines[messages.filter(({ role }) => role === "user").length] ?? stop;
