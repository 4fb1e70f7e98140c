/** What a scripted server has drawn, ended as servers end it. Knows no wire format. */
import type { Sample } from "../../core/policy.ts";
import { byteRenderer } from "../byte-renderer.ts";

export interface Drawn extends Sample {
  /** The stop string that ended it. */
  readonly stop?: string;
}

const renderer = byteRenderer();

/** Ends after the token that completes a stop string. */
export function cutAtStop(sample: Sample, stops: readonly string[]): Drawn {
  if (stops.length === 0) return sample;
  for (let length = 1; length <= sample.tokens.length; length++) {
    const said = renderer.decode(sample.tokens.subarray(0, length));
    const stop = stops.find((each) => said.includes(each));
    if (stop === undefined) continue;
    const tokens = sample.tokens.slice(0, length);
    return {
      ...sample,
      tokens,
      logprobs: sample.logprobs.slice(0, length),
      stopReason: "stop",
      stop,
    };
  }
  return sample;
}

/** What a client may see: nothing from the stop string on. */
export function visibleText({ tokens, stop }: Drawn): string {
  const all = renderer.decode(tokens);
  return stop === undefined ? all : all.slice(0, all.indexOf(stop));
}
