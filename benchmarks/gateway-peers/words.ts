/** Text and ids that look as a tokenizer's do. The same seed gives the same. */
import { createRandom } from "../../src/util/random.ts";

const vocabulary = 151_936;

/** A word per token, about four characters each, the frequent ones more often. */
export function sampleWords(count: number, seed: number): string[] {
  const random = createRandom(seed);
  const word = (): string => (Math.floor(4000 ** random()) * 7919).toString(26).slice(0, 5);
  return Array.from({ length: count }, () => ` ${word()}`);
}

/** Every id as likely as any other, which is the hardest to store. */
export function sampleIds(count: number, seed: number): number[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => Math.floor(random() * vocabulary));
}

export function sampleLogprobs(count: number, seed: number): number[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => Math.fround(Math.log(random() + 1e-9)));
}
