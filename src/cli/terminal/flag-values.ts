/** Values of flags, checked where they are read. */
import { InvalidArgumentError } from "commander";

/** @throws InvalidArgumentError */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/u.test(text) && value >= least && value < 2 ** 32) return value;
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
  };
}

/** @throws InvalidArgumentError */
export function portNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/u.test(text) && value < 2 ** 16) return value;
  throw new InvalidArgumentError("It must be a port from 0 to 65535.");
}
