/** Numbers with a beta distribution, from a stream of uniform ones. */
import { createNormal } from "./random.ts";

/** Gamma distribution of a shape of at least 1 (Marsaglia and Tsang 2000, ACM TOMS 26:363). */
function sampleGamma(shape: number, random: () => number, normal: () => number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal();
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** @param a at least 1. @param b at least 1 */
export function createBeta(random: () => number): (a: number, b: number) => number {
  const normal = createNormal(random);
  return (a, b) => {
    const x = sampleGamma(a, random, normal);
    return x / (x + sampleGamma(b, random, normal));
  };
}
