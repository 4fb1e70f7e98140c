/** Python's arithmetic, on numbers, texts and lists. */
import type { BinaryOperator } from "./ast.ts";
import { asNumber } from "./compare.ts";
import { fail } from "./errors.ts";
import { percentFormat } from "./format.ts";
import { checkSize, spend } from "./limits.ts";
import { checkInt, indexOf } from "./numbers.ts";
import { Str } from "./str.ts";
import { refuseUndefined, Tuple, typeName, type Value } from "./values.ts";

function unsupported(operator: string, left: Value, right: Value): never {
  refuseUndefined(left, right);
  const types = `'${typeName(left)}' and '${typeName(right)}'`;
  const name = operator === "**" ? "** or pow()" : operator;
  return fail("TypeError", `unsupported operand type(s) for ${name}: ${types}`);
}

function add(left: Value, right: Value): Value {
  if (left instanceof Str) {
    if (right instanceof Str) return left.plus(right);
    refuseUndefined(right);
    fail("TypeError", `can only concatenate str (not "${typeName(right)}") to str`);
  }
  const isList = Array.isArray(left);
  if (isList || left instanceof Tuple) {
    const type = typeName(left);
    refuseUndefined(right);
    if (typeName(right) !== type) {
      fail("TypeError", `can only concatenate ${type} (not "${typeName(right)}") to ${type}`);
    }
    const items = [...itemsOf(left), ...itemsOf(right)];
    checkSize(items.length);
    spend(items.length);
    return isList ? items : new Tuple(items);
  }
  return unsupported("+", left, right);
}

const itemsOf = (list: Value): readonly Value[] =>
  list instanceof Tuple ? list.items : (list as readonly Value[]);

function repeat(left: Value, right: Value): Value {
  const isSequence = (value: Value): boolean =>
    value instanceof Str || value instanceof Tuple || Array.isArray(value);
  const [sequence, times] = isSequence(left) ? [left, right] : [right, left];
  if (!isSequence(sequence)) return unsupported("*", left, right);
  refuseUndefined(times);
  if (typeof times !== "bigint" && typeof times !== "boolean") {
    fail("TypeError", `can't multiply sequence by non-int of type '${typeName(times)}'`);
  }
  const count = Math.max(0, indexOf(times));
  if (sequence instanceof Str) return sequence.times(count);
  const items = itemsOf(sequence);
  checkSize(items.length * count);
  spend(items.length * count);
  const repeated = Array.from({ length: count }, () => items).flat();
  return sequence instanceof Tuple ? new Tuple(repeated) : repeated;
}

function floorDivide(left: bigint, right: bigint): bigint {
  const quotient = left / right;
  return left % right !== 0n && left < 0n !== right < 0n ? quotient - 1n : quotient;
}

function intPower(base: bigint, exponent: bigint): Value {
  if (exponent < 0n) {
    if (base === 0n) fail("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    return Number(base) ** Number(exponent);
  }
  const bits = base.toString(2).length;
  if (bits > 1 && exponent * BigInt(bits - 1) > 20_000n) {
    fail("ValueError", "the result of ** is too large");
  }
  spend(bits * Number(exponent));
  return checkInt(base ** exponent);
}

/** What arithmetic with a long int costs, in steps. */
const longWork = 200;
const isLong = (value: bigint): boolean => BigInt.asIntN(64, value) !== value;

function ints(operator: BinaryOperator, left: bigint, right: bigint): Value {
  if (isLong(left) || isLong(right)) spend(longWork);
  const zero = right === 0n;
  if (operator === "+") return checkInt(left + right);
  if (operator === "-") return checkInt(left - right);
  if (operator === "*") return checkInt(left * right);
  if (operator === "**") return intPower(left, right);
  if (zero) {
    const messages = {
      "/": "division by zero",
      "//": "integer division or modulo by zero",
      "%": "integer modulo by zero",
    };
    fail("ZeroDivisionError", messages[operator]);
  }
  if (operator === "/") return Number(left) / Number(right);
  const quotient = floorDivide(left, right);
  return operator === "//" ? quotient : left - quotient * right;
}

function floats(operator: BinaryOperator, left: number, right: number): Value {
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  if (operator === "*") return left * right;
  if (operator === "**") {
    if (left === 0 && right < 0)
      fail("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    return left ** right;
  }
  if (right === 0) {
    const messages = {
      "/": "float division by zero",
      "//": "float floor division by zero",
      "%": "float modulo",
    };
    fail("ZeroDivisionError", messages[operator]);
  }
  if (operator === "/") return left / right;
  const rest = left % right;
  const modulo = rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest;
  return operator === "%" ? modulo : Math.floor((left - modulo) / right + 0.5);
}

export function calculate(operator: BinaryOperator, left: Value, right: Value): Value {
  const [a, b] = [asNumber(left), asNumber(right)];
  if (a !== null && b !== null) {
    return typeof a === "bigint" && typeof b === "bigint"
      ? ints(operator, a, b)
      : floats(operator, Number(a), Number(b));
  }
  if (operator === "+") return add(left, right);
  if (operator === "*") return repeat(left, right);
  if (operator === "%" && left instanceof Str) return percentFormat(left, right);
  return unsupported(operator, left, right);
}

/** `-value` or `+value` */
export function signed(operator: "+" | "-", value: Value): Value {
  const number = asNumber(value);
  refuseUndefined(value);
  if (number === null)
    fail("TypeError", `bad operand type for unary ${operator}: '${typeName(value)}'`);
  return operator === "+" ? number : -number;
}
