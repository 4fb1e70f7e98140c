/**
 * `agent-trainer/testing`: a policy without a model, for tests of agents and of this library.
 * Deterministic; needs no download.
 *
 * @module testing
 */
import type { SamplerTarget } from "../core/backend.ts";
import { createByteRenderer } from "./byte-renderer.ts";
import {
  createScriptedSampler,
  type Script,
  type ScriptedSamplerOptions,
} from "./scripted-sampler.ts";

export { createByteRenderer, byteTokens } from "./byte-renderer.ts";
export { scriptedLogprob, createScriptedSampler } from "./scripted-sampler.ts";
export type {
  Script,
  ScriptedCall,
  ScriptedSampler,
  ScriptedSamplerOptions,
} from "./scripted-sampler.ts";

export { createUpstream } from "./upstream/upstream.ts";
export type { Upstream, UpstreamCall, UpstreamOptions } from "./upstream/upstream.ts";
export type { Fault } from "./upstream/fault.ts";

/**
 * A scripted model over bytes.
 *
 * @example
 * const gateway = createGateway({ target: createScriptedTarget(() => "4"), model: "scripted" });
 */
export function createScriptedTarget(
  script: Script,
  options?: ScriptedSamplerOptions,
): SamplerTarget {
  return {
    kind: "sampler",
    sampler: createScriptedSampler(script, options),
    renderer: createByteRenderer(),
  };
}
