/** Whether digits are the number of a card: the prefix and length of an issuer, and Luhn's check digit. */

/** Prefixes and lengths that networks issue; lengths that only few cards have count where they are in groups. */
const issuers: readonly (readonly [RegExp, readonly number[], readonly number[]])[] = [
  [/^4/u, [13, 16, 19], []], // Visa
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/u, [16], []], // Mastercard
  [/^3[47]/u, [15], []], // American Express
  [/^3(?:0[0-5]|[689])/u, [14], [16]], // Diners Club
  [/^6(?:011|4[4-9]|5)/u, [16], [19]], // Discover
  [/^35(?:2[89]|[3-8])/u, [16], [19]], // JCB
  [/^62/u, [16, 17, 18, 19], []], // UnionPay
  [/^(?:50(?:18|20|38)|5893|6304|6759|676[1-3])/u, [13, 14, 15, 16, 17, 18, 19], []], // Maestro
  [/^220[0-4]/u, [16, 17, 18, 19], []], // Mir
  // RuPay, Elo, Verve, Dankort, Hipercard, Hiper, Uzcard, Troy, Humo
  [/^(?:60[678]|81[789]|820|50[6-9]|5019|63[67]|8600|9792|9860)/u, [16], []],
];

function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The number of a product (EAN-13), which some begin as old cards of 13 digits do. */
function isProduct(digits: string): boolean {
  const sum = [...digits].reduce((all, digit, i) => all + Number(digit) * (i % 2 === 0 ? 1 : 3), 0);
  return digits.length === 13 && sum % 10 === 0;
}

/** @param isGrouped whether it was written in the groups of a card */
export const isCard = (digits: string, isGrouped: boolean): boolean =>
  issuers.some(
    ([prefix, lengths, rare]) =>
      (lengths.includes(digits.length) || (isGrouped && rare.includes(digits.length))) &&
      prefix.test(digits),
  ) &&
  hasCheckDigit(digits) &&
  !isProduct(digits);
