/** The target that a backend or a user gives, as the gateway uses it. */
import type { InferenceTarget } from "../../core/backend.ts";
import { createHttpTarget } from "./workers/http-target.ts";
import { samplerSource } from "./sampler-source.ts";
import type { TargetServices } from "./target-services.ts";
import type { Target } from "./target.ts";
import { createTokenTarget } from "./token-target.ts";

/** @throws ConfigError for a target that cannot be used. */
export function openTarget(target: InferenceTarget, services: TargetServices): Target {
  if (target.kind === "http") return createHttpTarget(target, services);
  return createTokenTarget(samplerSource(target.sampler), target.renderer, services.promptLimit);
}
