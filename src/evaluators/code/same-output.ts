/** Whether a program wrote what it should. */

/** How the output of a program is compared. */
export interface OutputRules {
  readonly whitespace: "lines" | "words";
  readonly tolerance: { readonly absolute?: number; readonly relative?: number } | null;
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u;
const integer = /^[+-]?\d+$/u;

const wordsOf = (text: string): readonly string[] =>
  text.split(/\s+/u).filter((word) => word !== "");

/** Without white space at the ends of lines and of the whole. */
const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trim()
    .split("\n");

export function isSameOutput(found: string, expected: string, rules: OutputRules): boolean {
  const { whitespace, tolerance } = rules;
  const [parts, wanted] =
    whitespace === "words"
      ? [wordsOf(found), wordsOf(expected)]
      : [linesOf(found), linesOf(expected)];
  const isSame = (one: string, other: string): boolean =>
    one === other || (tolerance !== null && isNear(one, other, tolerance));
  // The white space that stands between words is compared where it counts.
  const split = (text: string): readonly string[] => text.split(/(\s+)/u);
  return (
    parts.length === wanted.length &&
    parts.every((part, i) => {
      const [pieces, others] = [split(part), split(wanted[i]!)];
      return pieces.length === others.length && pieces.every((one, k) => isSame(one, others[k]!));
    })
  );
}

/** Numbers of which at least one is written with a point or an exponent. */
function isNear(
  found: string,
  expected: string,
  { absolute = 0, relative = 0 }: NonNullable<OutputRules["tolerance"]>,
): boolean {
  if (!decimal.test(found) || !decimal.test(expected)) return false;
  if (integer.test(found) && integer.test(expected)) return false;
  const wanted = Number(expected);
  return Math.abs(Number(found) - wanted) <= Math.max(absolute, relative * Math.abs(wanted));
}
