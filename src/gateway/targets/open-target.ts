/** What a backend or a user gives as target, to what the gateway asks. */
import type { InferenceTarget } from "../../core/backend.ts";
import type { CallGate } from "../call-gate.ts";
import { createHttpTarget } from "./http/http-target.ts";
import { samplerSource } from "./sampler-source.ts";
import type { Target } from "./target.ts";
import { createTokenTarget } from "./token-target.ts";

export interface TargetServices {
  /** The name that the gateway gives its model. */
  readonly model: string;
  /** Tells the version of the weights, and holds calls while they change. */
  readonly gate: CallGate;
  readonly requestTimeoutMs: number;
}

/** @throws ConfigError for a target that cannot be used. */
export function openTarget(target: InferenceTarget, services: TargetServices): Target {
  if (target.kind === "http") return createHttpTarget(target, services);
  return createTokenTarget(samplerSource(target.sampler), target.renderer);
}
