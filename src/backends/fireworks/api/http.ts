/** Fireworks as the client of the protocol sees it: serverless, or a dedicated trainer and its deployment. */
import type { ServerProfile, WireErrors } from "../../../tinker-api/wire/server-profile.ts";
import { reasonOf, Transport } from "../../../tinker-api/wire/transport.ts";
import { serverlessPath, type ClientSettings } from "./client-options.ts";
import { faultRules } from "./fault-policy.ts";
import { FireworksError, statusError, wireError } from "./fireworks-error.ts";

/** Where a kind of trainer is mounted, under the root of the API. */
export interface FireworksPaths {
  /** Of the training API, before `/api/v1`. */
  readonly training: string;
  readonly completions: string;
}

const serverlessPaths: FireworksPaths = {
  training: serverlessPath,
  completions: `${serverlessPath}/inference/v1/completions`,
};

export class FireworksHttp extends Transport {
  declare readonly settings: ClientSettings;
  readonly paths: FireworksPaths;

  constructor(settings: ClientSettings, paths: FireworksPaths = serverlessPaths) {
    super(profileOf(settings, paths), settings);
    this.paths = paths;
  }
}

function profileOf(settings: ClientSettings, { training }: FireworksPaths): ServerProfile {
  return {
    service: "Fireworks",
    prefix: training,
    // More than the log-probabilities of any batch that is sent.
    maxResponseBytes: 256 * 2 ** 20,
    asksForSize: true,
    renewsResults: true,
    acceptsProto: false,
    hasAllOutputs: true,
    errors: errorsOf(settings),
    headers: async (method, idempotencyKey, tries) => ({
      "x-api-key": settings.apiKey,
      ...(method === "POST"
        ? {
            "x-idempotency-key": idempotencyKey,
            "x-stainless-retry-count": String(tries - 1),
          }
        : {}),
    }),
    faults: faultRules(settings),
  };
}

function errorsOf({ baseUrl }: ClientSettings): WireErrors {
  return {
    connection: (request, cause) =>
      new FireworksError({
        message: `${request} at ${baseUrl} had no response: ${reasonOf(cause)}.`,
        hint: "Look whether the service can be reached.",
        cause,
        fields: { request, baseUrl },
      }),
    status: statusError,
    wire: wireError,
    failed: ({ request }, { detail, category, errorClass }) =>
      new FireworksError({
        message: `${request} failed on the server (${category}): ${detail}`,
        fields: { request, detail, category, errorClass },
      }),
    modelLost: (modelId, cause) =>
      new FireworksError({
        message: `Model ${modelId} takes no more requests, since it is not known whether an earlier one arrived.`,
        hint: "Start a new run.",
        cause,
        fields: { modelId },
      }),
  };
}
