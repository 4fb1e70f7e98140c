/** What goes wrong between a client and Fireworks. */
import { AgentTrainerError, type ErrorDetails } from "../../../core/errors.ts";

/** A request to Fireworks failed, and further retries do not help. */
export class FireworksError extends AgentTrainerError {
  override readonly name = "FireworksError";
  /** HTTP status of the last response; null without one. */
  readonly status: number | null;
  constructor(details: Omit<ErrorDetails, "code"> & { readonly status?: number | null }) {
    const { status = null, ...rest } = details;
    super({ code: "FIREWORKS_FAILED", ...rest });
    this.status = status;
  }
}

/** The server refused the request with an error status. */
export function statusError(request: string, status: number, detail: string): FireworksError {
  return new FireworksError({
    message: `${request} failed with status ${status}: ${detail}`,
    ...hintOf(status),
    status,
    fields: { request, status, detail },
  });
}

/** Something that the server sent is not what its API sends. */
export function wireError(
  message: string,
  fields: Readonly<Record<string, unknown>> = {},
): FireworksError {
  return new FireworksError({ message, fields });
}

function hintOf(status: number): { hint?: string } {
  switch (status) {
    case 401:
    case 403:
      return {
        hint: "Check FIREWORKS_API_KEY: training needs a key with the training scope, and access to the serverless Training API.",
      };
    case 402:
      return { hint: "The account's balance is used up, or billing is paused." };
    default:
      return {};
  }
}
