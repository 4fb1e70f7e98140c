/** How far two verdicts about the same answers agree. Pure. */

/** How often each pair of verdicts was given. */
export interface Confusion {
  readonly bothGood: number;
  /** The reward says good, the thumb bad. */
  readonly rewardOnly: number;
  /** The thumb says good, the reward bad. */
  readonly thumbOnly: number;
  readonly bothBad: number;
}

export interface Agreement extends Confusion {
  readonly n: number;
  /** Share of answers with the same verdict; 0 for none. */
  readonly accuracy: number;
  /** Cohen's kappa: 0 is what chance agrees on, 1 is all; null where one of both always says the same. */
  readonly kappa: number | null;
  /** 95 % interval of kappa, by its standard error (Cohen 1960); null with it. */
  readonly low: number | null;
  readonly high: number | null;
}

const z = 1.959964;

export function agreementOf(counts: Confusion): Agreement {
  const { bothGood, rewardOnly, thumbOnly, bothBad } = counts;
  const n = bothGood + rewardOnly + thumbOnly + bothBad;
  if (n === 0) return { ...counts, n, accuracy: 0, kappa: null, low: null, high: null };
  const accuracy = (bothGood + bothBad) / n;
  const rewardGood = (bothGood + rewardOnly) / n;
  const thumbGood = (bothGood + thumbOnly) / n;
  const chance = rewardGood * thumbGood + (1 - rewardGood) * (1 - thumbGood);
  const isConstant = [rewardGood, thumbGood].some((share) => share === 0 || share === 1);
  if (isConstant) return { ...counts, n, accuracy, kappa: null, low: null, high: null };
  const kappa = (accuracy - chance) / (1 - chance);
  const error = Math.sqrt((accuracy * (1 - accuracy)) / (n * (1 - chance) ** 2));
  return { ...counts, n, accuracy, kappa, low: kappa - z * error, high: kappa + z * error };
}
