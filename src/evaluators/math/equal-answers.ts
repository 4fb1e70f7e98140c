/** Whether two final results of a mathematical problem mean the same. */
import { Comparison } from "./comparison.ts";
import {
  type Expression,
  areSame,
  argsOf,
  call,
  contains,
  infinity,
  isCall,
  literal,
  negativeInfinity,
} from "./expression.ts";
import { parseAnswer } from "./parse.ts";
import { type Rational, attempt, one, zero } from "./rational.ts";
import { type Token, tokensOf } from "./tokens.ts";
import { type Unit, degree, isUnitLetter, unitOf } from "./units.ts";

const maxParts = 200;
/** Parts of two lists that are not the same as written are compared with each other up to this many. */
const maxPairs = 30;

/** How results are read. */
export interface EqualityOptions {
  /** `fraction`: 50% is 0.5; `ignore`: 50% is 50. */
  readonly percent: "fraction" | "ignore";
}

/**
 * Equal as written, apart from layout, or part by part as formulas. Tuples, intervals and matrices are
 * compared in order; sets, lists, unions and `\pm` in any order.
 */
export function equalAnswers(left: string, right: string, options: EqualityOptions): boolean {
  const [a, b] = [left, right].map(tokensOf);
  if (a === null || b === null) return left.trim() === right.trim();
  if (a!.length === 0 || b!.length === 0) return false;
  if (areSameText(a!, b!)) return true;
  const percent: Rational = options.percent === "ignore" ? one : { n: 1n, d: 100n };
  const [p, q] = [a!, b!].map((tokens) => parseAnswer(tokens, percent));
  if (p === null || q === null) return false;
  if (p!.kind === "word" || q!.kind === "word") return areSameWords(a!, b!);
  return attempt(() => new Comparer().areEqual(p!, q!)) ?? false;
}

/** As written, whether or not a single sign has braces: `x^2` and `x^{2}`. */
function areSameText(...sides: readonly (readonly Token[])[]): boolean {
  const [a, b] = sides.map((tokens) =>
    tokens
      .map(({ text }) => text)
      .filter((text, i, all) => {
        const [open, close] = text === "{" ? [i, i + 2] : [i - 2, i];
        return (text !== "{" && text !== "}") || all[open] !== "{" || all[close] !== "}";
      }),
  );
  return a!.length === b!.length && a!.every((text, i) => text === b![i]);
}

/** `\text{Ben}` is Ben; but neither is a product of variables. */
function areSameWords(...sides: readonly (readonly Token[])[]): boolean {
  if (sides.flat().some(({ kind }) => kind !== "word" && kind !== "name")) return false;
  const [a, b] = sides.map((tokens) => tokens.map(({ text }) => text).join(""));
  return a === b || (a!.length > 1 && a!.toLowerCase() === b!.toLowerCase());
}

interface Named {
  readonly name: Expression | null;
  readonly value: Expression;
}

const minus = (a: Expression, b: Expression): Expression => call("-", a, b);
const isList = (tree: Expression): boolean => isCall(tree, "list") || isCall(tree, "set");
const isEquation = (tree: Expression): boolean =>
  tree.kind === "call" && /^=(?: =)*$/u.test(tree.name);
const isOrder = (tree: Expression): boolean =>
  tree.kind === "call" && /^[<>]=?(?: [<>]=?)*$/u.test(tree.name);
const isTuple = (tree: Expression): boolean =>
  tree.kind === "call" && /^[([][)\]]$/u.test(tree.name);
const isMatrix = (tree: Expression): boolean => tree.kind === "call" && / of \d+$/u.test(tree.name);
const isArranged = (tree: Expression): boolean =>
  isTuple(tree) ||
  isMatrix(tree) ||
  isCall(tree, ":") ||
  isOrder(tree) ||
  isEquation(tree) ||
  (tree.kind === "call" && ["!=", "in", "~", "cap", "setminus"].includes(tree.name));

const isName = (tree: Expression): boolean =>
  tree.kind === "name" ||
  tree.kind === "word" ||
  (tree.kind === "call" && tree.name.startsWith("of ")) ||
  (isTuple(tree) && argsOf(tree).every(({ kind }) => kind === "name"));

const isGeneral = (name: Expression): boolean => argsOf(name).some(({ kind }) => kind === "name");

class Comparer {
  readonly #math = new Comparison();

  areEqual(a: Expression, b: Expression): boolean {
    if (areSame(a, b)) return true;
    const [roundA, roundB] = [this.#rounded(a), this.#rounded(b)];
    if ((roundA !== null && areSame(roundA, b)) || (roundB !== null && areSame(a, roundB)))
      return true;
    let [x, y] = [this.#arranged(a), this.#arranged(b)];
    // "x < 0 or x > 1" is a union.
    if (isCall(x, "cup")) y = this.#union(y);
    else if (isCall(y, "cup")) x = this.#union(x);
    if (isList(x) || isList(y)) return this.#equalLists(x, y);
    const [left, right] = [this.#named(x), this.#named(y)];
    if (left.name !== null && right.name !== null && !mayBeSame(left.name, right.name)) {
      return this.#equalParts(x, y);
    }
    if (left.value === x && right.value === y) return this.#equalParts(x, y);
    return this.#equalParts(x, y) || this.areEqual(left.value, right.value);
  }

  /** 0.333 of 1/3 ≈ 0.333; null where there is no approximation, or where it is a wrong one. */
  #rounded(tree: Expression): Expression | null {
    if (!isCall(tree, "~")) return null;
    const [first, second] = tree.args.map((arg) => this.#math.approximately(arg));
    return Math.abs(first! - second!) <= 0.01 * Math.abs(first!) ? tree.args[1]! : null;
  }

  /** Without `\pm`, a factor before a matrix, and an approximation of what is before it. */
  #arranged(tree: Expression): Expression {
    if (contains(tree, "pm") || contains(tree, "mp")) {
      const isNamed = isEquation(tree) && isName(argsOf(tree)[0]!);
      const inner = isNamed ? argsOf(tree).at(-1)! : tree;
      if (isList(inner)) return inner;
      return call("list", withSign(inner, "+", "-"), withSign(inner, "-", "+"));
    }
    if (tree.kind === "call" && /^(?:= )?~$/u.test(tree.name)) {
      const [first, second] = tree.args;
      return isName(first!) ? call("=", first!, second!) : first!;
    }
    if (isCall(tree, "*") || isCall(tree, "/")) {
      const [first, second] = tree.args.map((arg) => this.#arranged(arg));
      const scaled = (matrix: Expression, of: (cell: Expression) => Expression): Expression =>
        call((matrix as { name: string }).name, ...argsOf(matrix).map(of));
      if (isMatrix(first!)) return scaled(first!, (cell) => call(tree.name, cell, second!));
      if (isMatrix(second!)) return scaled(second!, (cell) => call(tree.name, first!, cell));
    }
    if (isCall(tree, "-") && isZero(tree.args[0]!) && isMatrix(tree.args[1]!)) {
      const matrix = tree.args[1]!;
      const cells = argsOf(matrix).map((cell) => minus(literal(zero), cell));
      return call((matrix as { name: string }).name, ...cells);
    }
    return tree;
  }

  /** "x = 5", "5 = x" and "f(2) = 5" are 5, "x \in [0, 1]" is the interval, "2 + 3 = 5" is 5. */
  #named(tree: Expression): Named {
    if (isCall(tree, "in") && isName(tree.args[0]!))
      return { name: tree.args[0]!, value: tree.args[1]! };
    const interval = isOrder(tree) ? toInterval(tree) : null;
    if (interval !== null) return interval;
    if (!isEquation(tree)) return { name: null, value: tree };
    const parts = argsOf(tree);
    const [first, last] = [parts[0]!, parts.at(-1)!];
    if (isName(first)) return { name: first, value: last };
    if (isName(last) && parts.length === 2) return { name: last, value: first };
    const isTrue = parts.every((part) => part === last || this.#equalParts(part, last));
    return {
      name: null,
      value: isTrue && !Number.isNaN(this.#math.approximately(last)) ? last : tree,
    };
  }

  #equalLists(a: Expression, b: Expression): boolean {
    const [left, right] = [a, b].map((tree) => this.#items(tree));
    if (left!.length > maxParts || right!.length > maxParts) return false;
    // In "x = 1, y = 2" the names say which is which; in "x = 1 or x = 2" they do not matter.
    const names = [...left!, ...right!].flatMap((item) => this.#named(item).name ?? []);
    const haveOne = new Set(names.map(letterOf)).size <= 1;
    const isNamed = (items: readonly Expression[]): boolean =>
      items.every((item) => this.#named(item).name !== null);
    const equal = (x: Expression, y: Expression): boolean =>
      this.areEqual(x, y) && (haveOne || isNamed([x]) === isNamed([y]));
    return isPermutation(left!, right!, equal);
  }

  #union(tree: Expression): Expression {
    if (!isCall(tree, "list") || !tree.args.every(isOrder)) return tree;
    return call("cup", ...tree.args.map((part) => toInterval(part)?.value ?? part));
  }

  /** The parts of a list, those of a set once; what is not a list is its only part. */
  #items(tree: Expression): readonly Expression[] {
    const items = (isList(tree) ? argsOf(tree) : [tree])
      .map((item) => this.#arranged(item))
      .flatMap((item) => (isCall(item, "list") ? item.args : [item]));
    if (!isCall(tree, "set") || items.length > maxPairs) return items;
    return items.filter(
      (item, i) => !items.slice(0, i).some((other) => this.areEqual(item, other)),
    );
  }

  #equalParts(a: Expression, b: Expression): boolean {
    if (isCall(a, "cup") || isCall(b, "cup")) {
      return isPermutation(unionParts(a), unionParts(b), (x, y) => this.areEqual(x, y));
    }
    if (isEquation(a) && isEquation(b) && argsOf(a).length === 2 && argsOf(b).length === 2) {
      const [p, q] = [a, b].map((tree) => minus(argsOf(tree)[0]!, argsOf(tree)[1]!));
      return this.#equalSides(a, b) || this.#math.proportion(p!, q!) !== 0;
    }
    if (isOrder(a) && isOrder(b) && argsOf(a).length === 2 && argsOf(b).length === 2) {
      return this.#equalOrders(a as never, b as never);
    }
    if (isArranged(a) || isArranged(b)) {
      return a.kind === "call" && b.kind === "call" && a.name === b.name && this.#equalSides(a, b);
    }
    return this.#equalQuantities(a, b);
  }

  #equalSides(a: Expression, b: Expression): boolean {
    const [left, right] = [argsOf(a), argsOf(b)];
    return left.length === right.length && left.every((arg, i) => this.areEqual(arg, right[i]!));
  }

  /** `x < 5`, `5 > x` and `2x < 10`. */
  #equalOrders(a: Expression & { kind: "call" }, b: Expression & { kind: "call" }): boolean {
    const [p, q] = [a, b].map(({ name, args }) =>
      name.startsWith("<") ? minus(args[0]!, args[1]!) : minus(args[1]!, args[0]!),
    );
    return a.name.length === b.name.length && this.#math.proportion(p!, q!) > 0;
  }

  /** Units are compared where both are known; other words after a result are dropped. */
  #equalQuantities(a: Expression, b: Expression): boolean {
    let [left, right] = [quantity(a), quantity(b)];
    // "5 m" is 5 meters where the other says so; else m is a variable.
    if (left.unit !== null) right = withUnitLetter(right);
    else if (right.unit !== null) left = withUnitLetter(left);
    if (left.unit !== null && right.unit !== null) {
      if (left.unit.dimension !== right.unit.dimension) return false;
      return this.#math.areEqual(
        scaled(left.value, left.unit.factor),
        scaled(right.value, right.unit.factor),
      );
    }
    if (this.#math.areEqual(left.value, right.value)) return true;
    // 90° is π/2 too.
    const isAngle =
      contains(a, "deg") !== contains(b, "deg") && (contains(a, "pi") || contains(b, "pi"));
    return isAngle && left.unit !== right.unit && this.#math.areEqual(a, b);
  }
}

/** `y = 5` is `f(x) = 5` and "Area = 5", but not `x = 5`. */
function mayBeSame(a: Expression, b: Expression): boolean {
  if (areSame(a, b) || a.kind === "word" || b.kind === "word") return true;
  return isGeneral(a) !== isGeneral(b);
}

/** x of x_1; of f(2), all of it. */
const letterOf = (name: Expression): string =>
  name.kind === "name"
    ? name.name.split("_", 1)[0]!
    : JSON.stringify(name, (_key, part: unknown) =>
        typeof part === "bigint" ? String(part) : part,
      );

const isZero = (tree: Expression): boolean => tree.kind === "number" && tree.value.n === 0n;
const scaled = (value: Expression, factor: Rational): Expression =>
  call("*", value, literal(factor));

function withSign(tree: Expression, plus: string, other: string): Expression {
  if (tree.kind !== "call") return tree;
  const args = tree.args.map((arg) => withSign(arg, plus, other));
  return call(tree.name === "pm" ? plus : tree.name === "mp" ? other : tree.name, ...args);
}

function unionParts(tree: Expression): readonly Expression[] {
  return isCall(tree, "cup") ? tree.args.flatMap(unionParts) : [tree];
}

/** `a < x <= b` and `x > 5` as intervals of x; null where no name is alone. */
function toInterval(tree: Expression): Named | null {
  const signs = (tree as { name: string }).name.split(" ");
  const isRising = signs.every((sign) => sign.startsWith("<"));
  if (!isRising && !signs.every((sign) => sign.startsWith(">"))) return null;
  const parts = isRising ? argsOf(tree) : argsOf(tree).toReversed();
  const order = isRising ? signs : signs.toReversed();
  const at = parts.length === 3 ? 1 : parts.findIndex((part) => part.kind === "name");
  const name = parts[at];
  if (parts.length > 3 || name?.kind !== "name") return null;
  const open = at === 0 || order[at - 1]!.length === 1 ? "(" : "[";
  const close = at === parts.length - 1 || order[at]!.length === 1 ? ")" : "]";
  return {
    name,
    value: call(open + close, parts[at - 1] ?? negativeInfinity, parts[at + 1] ?? infinity),
  };
}

interface Quantity {
  readonly value: Expression;
  readonly unit: Unit | null;
}

function withUnitLetter(found: Quantity): Quantity {
  if (found.unit !== null || !isCall(found.value, "*")) return found;
  const [value, letter] = found.value.args;
  if (letter?.kind !== "name" || !isUnitLetter(letter.name)) return found;
  return { value: value!, unit: unitOf([letter.name]).unit };
}

/** A value without its units and degrees, which stay within functions. */
function quantity(tree: Expression): Quantity {
  if (tree.kind !== "call") return { value: tree, unit: null };
  if (tree.name === "deg") return { value: quantity(tree.args[0]!).value, unit: degree };
  if (tree.name.startsWith("unit ")) {
    const { scale, unit } = unitOf(tree.name.split(" ").slice(1));
    const inner = quantity(tree.args[0]!);
    const value = scale === one ? inner.value : scaled(inner.value, scale);
    return { value, unit: unit ?? inner.unit };
  }
  if (!["+", "-", "*", "/"].includes(tree.name)) return { value: tree, unit: null };
  const parts = tree.args.map(quantity);
  const unit = parts.find((part) => part.unit !== null)?.unit ?? null;
  const isPlain = parts.every(({ value }, i) => value === tree.args[i]);
  return { value: isPlain ? tree : call(tree.name, ...parts.map(({ value }) => value)), unit };
}

/** Whether the parts of both are equal in some order. */
function isPermutation(
  left: readonly Expression[],
  right: readonly Expression[],
  equal: (a: Expression, b: Expression) => boolean,
): boolean {
  if (left.length !== right.length || left.length > maxParts) return false;
  const rest = [...right];
  const without = (part: Expression, isEqual: typeof equal): boolean => {
    const at = rest.findIndex((other) => isEqual(part, other));
    if (at !== -1) rest.splice(at, 1);
    return at !== -1;
  };
  const open = left.filter((part) => !without(part, areSame));
  return open.length <= maxPairs && open.every((part) => without(part, equal));
}
