/** 32-bit floats as the decimal numbers that they stand for. */

/** The shortest decimal number that is the same 32-bit float: 1e-5 is stored as 0.0000099999997. */
export function shortestFloat(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return value;
}
