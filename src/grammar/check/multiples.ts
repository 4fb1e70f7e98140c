/** A number as digits times a power of ten, as it is written in its shortest form. */
function digitsOf(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = "0", exponent = "0"] = String(Math.abs(value)).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** Whether `value` is a multiple of `of`, as decimal numbers: 0.3 is one of 0.1. */
export function isMultiple(value: number, of: number): boolean {
  if (!Number.isFinite(value) || !(of > 0)) return false;
  const [a, b] = [digitsOf(value), digitsOf(of)];
  const least = Math.min(a.exponent, b.exponent);
  const scaled = ({ digits, exponent }: typeof a): bigint =>
    digits * 10n ** BigInt(exponent - least);
  return scaled(a) % scaled(b) === 0n;
}
