/**
 * `agent-trainer/testing`: a policy without a model, for tests of agents and of this library.
 * Deterministic; needs no download.
 */
import type { SamplerTarget } from "../core/backend.ts";
import { byteRenderer } from "./byte-renderer.ts";
import { scriptedSampler, type Script, type ScriptedSamplerOptions } from "./scripted-sampler.ts";

export { byteRenderer, byteTokens } from "./byte-renderer.ts";
export { scriptedLogprob, scriptedSampler } from "./scripted-sampler.ts";
export type {
  Script,
  ScriptedCall,
  ScriptedSampler,
  ScriptedSamplerOptions,
} from "./scripted-sampler.ts";

export { startUpstream } from "./upstream/upstream.ts";
export type { Upstream, UpstreamCall, UpstreamOptions } from "./upstream/upstream.ts";
export type { Fault } from "./upstream/fault.ts";

/**
 * A scripted model over bytes.
 *
 * @example
 * const gateway = createGateway({ target: scriptedTarget(() => "4"), model: "scripted" });
 */
export function scriptedTarget(script: Script, options?: ScriptedSamplerOptions): SamplerTarget {
  return {
    kind: "sampler",
    sampler: scriptedSampler(script, options),
    renderer: byteRenderer(),
  };
}
