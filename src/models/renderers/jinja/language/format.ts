/** Numbers and texts by a format: Python's `%` operator, and the mini-language of `str.format()`. */
import { asNumber } from "./compare.ts";
import { fail } from "./errors.ts";
import { fixed, indexOf, truncate } from "./numbers.ts";
import { empty, Str } from "./str.ts";
import { floatText, repr, str } from "./write.ts";
import { checkSize } from "./limits.ts";
import { Dict, refuseUndefined, Tuple, typeName, type Value } from "./values.ts";

/** Digits of a float in the manner of `e`, `f`, `g` and their capitals, without a sign. */
function floatDigits(value: number, kind: string, precision: number, keepsZeros: boolean): string {
  const size = Math.abs(value);
  if (!Number.isFinite(size)) return floatText(size);
  const lower = kind.toLowerCase();
  if (lower === "f") return fixed(size, precision);
  const exponential = (digits: number): string =>
    size.toExponential(Math.min(100, digits)).replace(/e([+-])(\d)$/, "e$10$2");
  if (lower === "e") return exponential(precision);
  const digits = Math.max(1, precision);
  const exponent = size === 0 ? 0 : Number(exponential(digits - 1).split("e")[1]);
  const isSmall = exponent < -4 || exponent >= digits;
  const text = isSmall ? exponential(digits - 1) : fixed(size, Math.max(0, digits - 1 - exponent));
  if (keepsZeros) return text;
  return text.includes(".") ? text.replace(/\.?0+(?=e|$)/, "") : text;
}

interface Layout {
  readonly fill: string;
  readonly align: string;
  readonly width: number;
}

/** `digits` may be preceded by a sign and a prefix, after which zeros go. */
function pad(text: Str, { fill, align, width }: Layout, head = 0): Str {
  const missing = width - text.length;
  if (missing <= 0) return text;
  checkSize(width);
  const filler = (count: number): Str => text.like(fill.repeat(count));
  if (align === "=") {
    return Str.join([text.cut(0, head), filler(missing), text.cut(head)]);
  }
  const before = align === ">" ? missing : align === "^" ? Math.floor(missing / 2) : 0;
  return Str.join([filler(before), text, filler(missing - before)]);
}

const radixes: Readonly<Record<string, readonly [number, string]>> = {
  b: [2, "0b"],
  o: [8, "0o"],
  x: [16, "0x"],
  X: [16, "0X"],
};

const directive = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?([a-zA-Z%])?/g;

function wholeOf(value: Value, kind: string): bigint {
  const number = asNumber(value);
  refuseUndefined(value);
  if (number === null || ("xXo".includes(kind) && typeof number === "number")) {
    const needed = "xXo".includes(kind) ? "an integer" : "a real number";
    fail("TypeError", `%${kind} format: ${needed} is required, not ${typeName(value)}`);
  }
  return typeof number === "bigint" ? number : truncate(number);
}

function character(value: Value): Str {
  if (value instanceof Str && value.length === 1) return value;
  if (typeof value !== "bigint") fail("TypeError", "%c requires int or char");
  if (value < 0n || value > 0x10ffffn) fail("OverflowError", "%c arg not in range(0x110000)");
  return Str.foreign(String.fromCodePoint(Number(value)));
}

/** `template % values` */
export function percentFormat(template: Str, values: Value): Str {
  const queue = values instanceof Tuple ? values.items : [values];
  let used = 0;
  const next = (): Value => {
    if (used >= queue.length) fail("TypeError", "not enough arguments for format string");
    return queue[used++]!;
  };
  const parts: Str[] = [];
  let at = 0;
  for (const found of template.text.matchAll(directive)) {
    const [all, key, flags = "", widthText, precisionText, kind] = found;
    parts.push(template.cut(at, found.index));
    at = found.index + all.length;
    if (kind === undefined) fail("ValueError", "incomplete format");
    if (kind === "%") {
      parts.push(template.cut(at - 1, at));
      continue;
    }
    const size = (text: string | undefined): number | undefined =>
      text === "*" ? indexOf(next()) : text === undefined ? undefined : Number(text);
    let width = size(widthText);
    const precision =
      size(precisionText) ?? (all.includes(".") && !key?.includes(".") ? 0 : undefined);
    const isLeft = flags.includes("-") || (width ?? 0) < 0;
    width = Math.abs(width ?? 0);
    let value: Value;
    if (key === undefined) value = next();
    else {
      if (!(values instanceof Dict)) fail("TypeError", "format requires a mapping");
      value = values.field(key) ?? fail("KeyError", `'${key}'`);
      used = queue.length;
    }
    const layout: Layout = { fill: " ", align: isLeft ? "<" : ">", width };
    parts.push(pad(...percentValue(value, kind, flags, precision, layout)));
  }
  parts.push(template.cut(at));
  if (used < queue.length && !(values instanceof Dict) && !Array.isArray(values)) {
    fail("TypeError", "not all arguments converted during string formatting");
  }
  return Str.join(parts);
}

function percentValue(
  value: Value,
  kind: string,
  flags: string,
  precision: number | undefined,
  layout: Layout,
): [Str, Layout, number] {
  if (kind === "s" || kind === "r" || kind === "a") {
    const text = kind === "s" ? str(value) : repr(value);
    return [
      precision === undefined ? text : Str.join(text.characters().slice(0, precision)),
      layout,
      0,
    ];
  }
  if (kind === "c") return [character(value), layout, 0];
  let digits: string;
  let isNegative: boolean;
  let prefix = "";
  if ("diuxXo".includes(kind)) {
    const whole = wholeOf(value, kind);
    isNegative = whole < 0n;
    const [radix, mark] = radixes[kind] ?? [10, ""];
    digits = (isNegative ? -whole : whole).toString(radix).padStart(precision ?? 0, "0");
    if (kind === "X") digits = digits.toUpperCase();
    if (flags.includes("#")) prefix = mark;
  } else if ("eEfFgG".includes(kind)) {
    const number = asNumber(value);
    refuseUndefined(value);
    if (number === null) fail("TypeError", `must be real number, not ${typeName(value)}`);
    isNegative = number < 0 || Object.is(number, -0);
    digits = floatDigits(Number(number), kind, precision ?? 6, flags.includes("#"));
    if (kind !== kind.toLowerCase()) digits = digits.toUpperCase();
  } else fail("ValueError", `unsupported format character '${kind}'`);
  const sign = isNegative ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  const head = sign + prefix;
  const isZeroed = flags.includes("0") && layout.align === ">";
  const used: Layout = isZeroed ? { ...layout, fill: "0", align: "=" } : layout;
  return [Str.foreign(head + digits), used, head.length];
}

const spec = /^(?:([^])?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/u;

function grouped(digits: string, separator: string, size: number): string {
  const [, whole = "", rest = ""] = /^([\da-fA-F]*)(.*)$/s.exec(digits)!;
  const groups: string[] = [];
  for (let end = whole.length; end > 0; end -= size) {
    groups.unshift(whole.slice(Math.max(0, end - size), end));
  }
  return groups.join(separator) + rest;
}

/** `format(value, spec)` */
function formatValue(value: Value, format: string): Str {
  if (format === "") return str(value);
  const found = spec.exec(format);
  const type = typeName(value);
  if (found === null)
    return fail("ValueError", `Invalid format specifier '${format}' for object of type '${type}'`);
  const [, fill, align, sign = "", alternate, zero, widthText, separator, precisionText, kind] =
    found;
  const layout = {
    fill: fill ?? (zero === undefined ? " " : "0"),
    width: Number(widthText ?? 0),
  };
  const precision = precisionText === undefined ? undefined : Number(precisionText);
  const unknown = (): never =>
    fail("ValueError", `Unknown format code '${kind ?? ""}' for object of type '${type}'`);
  if (value instanceof Str) {
    if (kind !== undefined && kind !== "s") unknown();
    if (sign !== "") fail("ValueError", "Sign not allowed in string format specifier");
    const text = precision === undefined ? value : Str.join(value.characters().slice(0, precision));
    return pad(text, { ...layout, align: align ?? "<" });
  }
  const isPlainBool = typeof value === "boolean" && kind === undefined;
  const number = isPlainBool ? null : asNumber(value);
  if (number === null && !isPlainBool) {
    fail("TypeError", `unsupported format string passed to ${type}.__format__`);
  }
  const used = number ?? (value === true ? 1n : 0n);
  const isNegative = used < 0 || Object.is(used, -0);
  let digits: string;
  let prefix = "";
  if (typeof used === "bigint" && (kind === undefined || "bcdoxXn".includes(kind))) {
    if (precision !== undefined)
      fail("ValueError", "Precision not allowed in integer format specifier");
    const [radix, mark] = radixes[kind ?? ""] ?? [10, ""];
    digits = kind === "c" ? character(used).text : (isNegative ? -used : used).toString(radix);
    if (kind === "X") digits = digits.toUpperCase();
    if (alternate !== undefined) prefix = mark;
    if (separator !== undefined) digits = grouped(digits, separator, radix === 10 ? 3 : 4);
  } else {
    if (kind !== undefined && !"eEfFgGn%".includes(kind)) unknown();
    const float = Number(used);
    if (kind === "%") digits = `${floatDigits(float * 100, "f", precision ?? 6, false)}%`;
    else if (kind !== undefined) {
      digits = floatDigits(
        float,
        kind === "n" ? "g" : kind,
        precision ?? 6,
        alternate !== undefined,
      );
    } else if (precision === undefined) digits = floatText(Math.abs(float));
    else {
      const short = floatDigits(float, "g", precision, false);
      digits = /[.en]/.test(short) || !Number.isFinite(float) ? short : `${short}.0`;
    }
    if (kind !== undefined && /[EFG]/.test(kind)) digits = digits.toUpperCase();
    if (separator !== undefined) digits = grouped(digits, separator, 3);
  }
  const head = (isNegative ? "-" : sign === "-" ? "" : sign) + prefix;
  const side = align ?? (zero === undefined ? ">" : "=");
  return pad(Str.foreign(head + digits), { ...layout, align: side }, head.length);
}

const field = /\{\{|\}\}|\{([^{}!:]*)(?:!([a-z]))?(?::((?:[^{}]|\{[^{}]*\})*))?\}|[{}]/g;

/** `template.format(...)`; `find` gives the value that the name of a field says. */
export function braceFormat(template: Str, find: (name: string) => Value): Str {
  let counted = 0;
  const value = (name: string): Value =>
    find(/^(?=[.[]|$)/.test(name) ? `${counted++}${name}` : name);
  const parts: Str[] = [];
  let at = 0;
  for (const found of template.text.matchAll(field)) {
    const [all, name, conversion, format = ""] = found;
    parts.push(template.cut(at, found.index));
    at = found.index + all.length;
    if (name === undefined) {
      if (all.length === 1) fail("ValueError", `Single '${all}' encountered in format string`);
      parts.push(template.cut(at - 1, at));
      continue;
    }
    const given = value(name);
    const shown = conversion === undefined ? given : conversion === "s" ? str(given) : repr(given);
    const inner = format.replaceAll(/\{([^{}]*)\}/g, (_, own: string) => str(value(own)).text);
    parts.push(formatValue(shown, inner));
  }
  parts.push(at === 0 ? template : template.cut(at));
  return parts.length === 0 ? empty : Str.join(parts);
}
