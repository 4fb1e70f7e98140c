/** What a scripted server has sampled, ended as servers end it. */
import type { Sample } from "../../core/policy.ts";
import { createByteRenderer } from "../byte-renderer.ts";

export interface Sampled extends Sample {
  /** The stop string that ended it. */
  readonly stop?: string;
}

const renderer = createByteRenderer();

/** Ends after the token that completes a stop string. */
export function cutAtStop(sample: Sample, stops: readonly string[]): Sampled {
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
export function visibleText({ tokens, stop }: Sampled): string {
  const all = renderer.decode(tokens);
  return stop === undefined ? all : all.slice(0, all.indexOf(stop));
}

const continues = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 0x80 && byte < 0xc0;

function characterLength(lead: number): number {
  return lead < 0xc0 || lead > 0xff ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** Of each token, whether it completes a character, so that the text so far is text. */
export function completesCharacter(tokens: Int32Array): readonly boolean[] {
  let missing = 0;
  return Array.from(tokens, (token) => {
    missing = missing > 0 && continues(token) ? missing - 1 : characterLength(token) - 1;
    return missing === 0;
  });
}
