/** What came over the wire is not what Tinker's API sends. */
import { AgentTrainerError } from "../core/errors.ts";

export class TinkerWireError extends AgentTrainerError {
  override readonly name = "TinkerWireError";
  constructor(message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super({ code: "UPSTREAM_FAILED", message, fields });
  }
}
