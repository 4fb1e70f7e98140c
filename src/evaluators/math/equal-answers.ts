/** Whether two final results of a mathematical problem mean the same. */
import { plainDigits } from "../parse-number.ts";
import { type Expression, parseExpression } from "./expression.ts";
import { agree, areProportional } from "./probe.ts";

const maxFormulaChars = 2_000;
const maxParts = 200;

/** How results are read. */
export interface EqualityOptions {
  /** `fraction`: 50% is 0.5; `ignore`: 50% is 50. */
  readonly percent: "fraction" | "ignore";
}

/**
 * Equal as text after normalization, or part by part as formulas. Tuples, intervals and matrices are
 * compared in order; sets, lists, unions and `\pm` in any order.
 */
export function equalAnswers(left: string, right: string, options: EqualityOptions): boolean {
  const a = normalize(left, options);
  const b = normalize(right, options);
  if (a === b) return a !== "";
  if (a.length > maxFormulaChars || b.length > maxFormulaChars) return false;
  return equalNamed(a, b);
}

interface Named {
  readonly name: string;
  readonly value: string;
}

// A letter, a function of a letter (f(x)), or one of the usual functions at a number (f(2)).
const nameSource = String.raw`[A-Za-z](?:_\{?\w\}?)?(?:\([a-z]\))?|[fghFGHpqPQ]\((?:-?\d+(?:\.\d+)?|[A-Z])\)`;
const nameFirst = new RegExp(
  String.raw`^(${nameSource}) ?(?:=(?!=)|\\in(?![A-Za-z])) ?([^=]+)$`,
  "u",
);
const nameLast = new RegExp(String.raw`^([^=<>!]*[^=<>! ]) ?= ?(${nameSource})$`, "u");

/** "x = 5", "5 = x" and "f(2) = 5" are 5, "x \in [0, 1]" is the interval; null for what gives no name. */
function named(text: string): Named | null {
  const [, name, value] = nameFirst.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return { name, value };
  const [, before, last] = nameLast.exec(text) ?? [];
  return before === undefined || last === undefined ? null : { name: last, value: before };
}

/** A result with its name is that without, and f(x) = x^2 is y = x^2; but x = 5 is not y = 5. */
function equalNamed(a: string, b: string): boolean {
  if (equalParts(a, b)) return true;
  const [left, right] = [named(a), named(b)];
  if (left === null && right === null) return false;
  if (left !== null && right !== null && !mayBeSame(left.name, right.name)) return false;
  return equalParts(left?.value ?? a, right?.value ?? b);
}

const haveOneName = (parts: readonly string[]): boolean =>
  new Set(parts.flatMap((part) => named(part)?.name ?? [])).size <= 1;

function mayBeSame(a: string, b: string): boolean {
  return a === b || /\([a-z]\)$/u.test(a) !== /\([a-z]\)$/u.test(b);
}

function equalParts(a: string, b: string): boolean {
  const left = structure(a);
  const right = structure(b);
  if (left.shape !== right.shape || left.parts.length !== right.parts.length) return false;
  if (left.shape === "formula") return equalFormulas(a, b);
  if (left.parts.length > maxParts) return false;
  const isNested = left.shape === "matrix" || left.shape === "union";
  // In "x = 1, y = 2" the names say which is which; in "x = 1 or x = 2" they do not matter.
  const isOfOne = left.shape === "list" && [left, right].every(({ parts }) => haveOneName(parts));
  const equal = isNested ? equalParts : isOfOne ? equalNamed : equalFormulas;
  const same = (x: string, y: string): boolean => x === y || equal(x, y);
  if (left.isOrdered) return left.parts.every((part, i) => same(part, right.parts[i]!));
  const rest = [...right.parts];
  return left.parts.every((part) => {
    const at = rest.findIndex((other) => same(part, other));
    if (at !== -1) rest.splice(at, 1);
    return at !== -1;
  });
}

/** Without what has no meaning for the comparison: layout, units as text, a name in front of the result. */
function normalize(text: string, { percent }: EqualityOptions): string {
  let plain = text
    .trim()
    .replaceAll(/\\\\|\\(?:left|right)(?![A-Za-z])|\\[!,;: ]|\\\$|\$|~/gu, (found) =>
      // The end of a row of a matrix.
      found === "\\\\" ? found : "",
    )
    .replaceAll(/\\[dtc]frac(?![A-Za-z])/gu, "\\frac")
    .replaceAll(/\\mathrm(?![A-Za-z])|\\mbox(?![A-Za-z])|\\textbf(?![A-Za-z])/gu, "\\text")
    .replaceAll(/\\text ?\{,? ?(and|or) ?\}/gu, " $1 ")
    .replaceAll(/\^\{? ?\\circ ?\}?|\\degree(?![A-Za-z])|°/gu, "")
    .replaceAll(/\\le(?:q|qslant)?(?![A-Za-z])|≤/gu, "<=")
    .replaceAll(/\\ge(?:q|qslant)?(?![A-Za-z])|≥/gu, ">=")
    .replaceAll(/\\lt(?![A-Za-z])/gu, "<")
    .replaceAll(/\\gt(?![A-Za-z])/gu, ">")
    .trim();
  if (percent === "ignore") plain = plain.replaceAll(/\\?%/gu, "");
  while (plain.endsWith(".") || plain.endsWith(" ")) plain = plain.slice(0, -1);
  plain = withoutText(plain);
  const words = (grouped(plain) ?? plain).split(/\s+/u).join(" ").trim();
  // "x = 10,000" is no list.
  const number = grouped(named(words)?.value ?? "");
  return number === null ? words : `${named(words)!.name} = ${number}`;
}

/** `\text{...}` after a result is a unit; as the whole result it is the result. */
function withoutText(text: string): string {
  const parts = text.split(/\\text ?\{([^{}]{0,500})\}(?:\^\{?\d\}?)?/u);
  if (parts.length === 1) return text;
  const outside = parts
    .filter((_part, i) => i % 2 === 0)
    .join(" ")
    .trim();
  if (outside !== "") return outside;
  return parts.join("").trim().toLowerCase();
}

/** `10,000` and `10{,}000` to `10000`; null where it is no such number. */
function grouped(text: string): string | null {
  if (!/^-?\d[\d,{}]*(?:\.\d*)?$/u.test(text)) return null;
  const [sign, size] = text.startsWith("-") ? ["-", text.slice(1)] : ["", text];
  const plain = plainDigits(size.replaceAll("{,}", ","), ".");
  if (plain === null || /[{}]/u.test(size.replaceAll("{,}", ","))) return null;
  const [whole = "", fraction = ""] = plain.split(".");
  let end = fraction.length;
  while (end > 0 && fraction[end - 1] === "0") end--;
  const start = /[1-9]/u.exec(whole)?.index ?? Math.max(0, whole.length - 1);
  return `${sign}${whole.slice(start)}${end === 0 ? "" : `.${fraction.slice(0, end)}`}`;
}

interface Structure {
  readonly shape: string;
  readonly isOrdered: boolean;
  readonly parts: readonly string[];
}

function structure(text: string): Structure {
  const union = split(text, "\\cup");
  if (union.length > 1) return { shape: "union", isOrdered: false, parts: union };
  const matrix = /^\\begin\{([pbv]?)matrix\}(.*)\\end\{[pbv]?matrix\}$/su.exec(text);
  if (matrix !== null) {
    const rows = matrix[2]!.split("\\\\").map((row) => row.trim());
    if (rows.at(-1) === "") rows.pop();
    const parts = rows.flatMap((row) => row.split("&").map((cell) => cell.trim()));
    const shape = matrix[1] === "v" ? "determinant" : "matrix";
    return { shape: `${shape} of ${rows.length}`, isOrdered: true, parts };
  }
  const set = /^\\\{(.*)\\\}$/su.exec(text);
  if (set !== null) return { shape: "set", isOrdered: false, parts: split(set[1]!, ",") };
  const open = text[0] ?? "";
  const close = text.at(-1) ?? "";
  if ("([".includes(open) && ")]".includes(close) && closesAtEnd(text)) {
    const parts = split(text.slice(1, -1), ",");
    if (parts.length > 1) return { shape: `${open}${close}`, isOrdered: true, parts };
  }
  const signs = split(text, "\\pm");
  if (signs.length === 2) {
    const parts = ["+", "-"].map((sign) => `${signs[0]} ${sign} (${signs[1]})`);
    return { shape: "list", isOrdered: false, parts };
  }
  const list = split(text.replaceAll(/,? (?:and|or) /gu, ","), ",").filter((part) => part !== "");
  if (list.length > 1) return { shape: "list", isOrdered: false, parts: list };
  return { shape: "formula", isOrdered: true, parts: [text] };
}

/** Whether the bracket that opens a text is closed by its last character. */
function closesAtEnd(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if ("([{".includes(text[i]!)) depth++;
    else if (")]}".includes(text[i]!) && --depth === 0) return i === text.length - 1;
  }
  return false;
}

/** Cuts at a separator outside of brackets. */
function split(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
    else if (depth === 0 && text.startsWith(separator, i)) {
      parts.push(text.slice(start, i).trim());
      start = i + separator.length;
      i = start - 1;
    }
  }
  return [...parts, text.slice(start).trim()];
}

function equalFormulas(a: string, b: string): boolean {
  const left = a.split("=");
  const right = b.split("=");
  if (left.length !== right.length || left.length > 2) return false;
  const trees = [...left, ...right].map((part) => parseExpression(grouped(part.trim()) ?? part));
  if (trees.some((tree) => tree === null)) return false;
  const [p, q, r, s] = trees as readonly Expression[];
  if (left.length === 2) {
    const minus = (x: Expression, y: Expression): Expression => ({
      kind: "call",
      name: "-",
      args: [x, y],
    });
    return areProportional(minus(p!, q!), minus(r!, s!));
  }
  // Literals are compared digit by digit: beyond 2^53, doubles cannot tell neighbors apart.
  const isLiteral = (text: string): boolean => /^-?\d+(?:\.\d*)?$/u.test(text);
  if (isLiteral(a) && isLiteral(b) && Math.max(a.length, b.length) > 15) return false;
  return agree(p!, q!);
}
