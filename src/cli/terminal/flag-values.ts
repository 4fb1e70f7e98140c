/** Values of flags, checked where they are read. Every function throws `InvalidArgumentError`. */
import { InvalidArgumentError } from "commander";

const toNumber = (text: string): number => (text.trim() === "" ? Number.NaN : Number(text));

export function anyNumber(text: string): number {
  const value = toNumber(text);
  if (Number.isFinite(value)) return value;
  throw new InvalidArgumentError("It must be a number.");
}

export function numberBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = toNumber(text);
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}

export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/u.test(text) && value >= least && value < 2 ** 32) return value;
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
  };
}

/** `5`: how many; `3,7,9`: which. */
export function seedNumbers(text: string): number | readonly number[] {
  const seeds = text.split(",").map(wholeNumber(0));
  const [first] = seeds;
  if (seeds.length > 1) return seeds;
  if (first !== undefined && first >= 1) return first;
  throw new InvalidArgumentError("It must be how many seeds, or a list of them: 3,7,9.");
}

export function portNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/u.test(text) && value < 2 ** 16) return value;
  throw new InvalidArgumentError("It must be a port from 0 to 65535.");
}

/** Of a flag that may be given several times. */
export const repeated = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  text,
];
