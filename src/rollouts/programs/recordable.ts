/**
 * Whether what user code returned can be serialized. Everything of a rollout is a line of JSON in the
 * run folder, so a cycle, a BigInt or a getter that throws fails that rollout, with a message that
 * names it.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import { describeThrown } from "../failures/error-facts.ts";
import type { FlowResult } from "./program.ts";

/** Why `value` cannot be written as JSON; null when it can. Never throws. */
export function whyUnrecordable(value: unknown): string | null {
  try {
    JSON.stringify(value);
    return null;
  } catch (error) {
    const { name, message } = describeThrown(error);
    if (message.includes("BigInt")) return "a BigInt";
    if (message.includes("circular") || message.includes("cyclic")) return "a cycle";
    if (name === "RangeError") return "something too deep or too long";
    return `something that throws when it is read (${name}: ${message})`;
  }
}

/** @throws AgentTrainerError (`ROLLOUT_FAILED`) that names the part. */
export function requireRecordable(what: string, { output, metadata, reports }: FlowResult): void {
  const parts: readonly (readonly [string, unknown])[] = [
    ["output", output],
    ["metadata", metadata],
    ...reports.map((report) => [`report "${report.name}"`, report] as const),
  ];
  for (const [part, value] of parts) {
    const why = whyUnrecordable(value);
    if (why === null) continue;
    throw new AgentTrainerError({
      code: "ROLLOUT_FAILED",
      message: `${what} returned ${why} in its ${part}, which cannot be written to the run folder.`,
      hint: "Return plain data: strings, numbers, arrays and objects without cycles.",
      fields: { part },
    });
  }
}
