/** Filters on lists, dicts and numbers. */
import { attribute } from "../attributes.ts";
import { asNumber, compare, isEqual, sortBy } from "../compare.ts";
import { fail } from "../errors.ts";
import { fixed, indexOf, parseFloatText, parseIntText, roundNumber, truncate } from "../numbers.ts";
import { calculate } from "../operators.ts";
import { checkSize } from "../limits.ts";
import { Str } from "../str.ts";
import {
  Args,
  Dict,
  isTrue,
  Iter,
  iterate,
  keyOf,
  listOf,
  none,
  refuseUndefined,
  sizeOf,
  tryIterate,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "../values.ts";
import { strip } from "../methods/text-parts.ts";
import { attributeGetter, bad, caseFolder, type Filter, type Filters } from "./filter.ts";

const length: Filter = (value) =>
  BigInt(sizeOf(value) ?? bad(`object of type '${typeName(value)}' has no len()`));

function toInt(value: Value, args: Args): Value {
  const [fallback = 0n, base = 10n] = args.take("int", ["default", "base"]);
  refuseUndefined(value);
  const number = asNumber(value);
  if (typeof number === "bigint") return number;
  if (number !== null) return Number.isFinite(number) ? truncate(number) : fallback;
  if (!(value instanceof Str)) return fallback;
  const { text } = strip(value, null, true, true);
  const float = (): Value => {
    const parsed = parseFloatText(text);
    return parsed !== null && Number.isFinite(parsed) ? truncate(parsed) : fallback;
  };
  return parseIntText(text, indexOf(base)) ?? float();
}

function toFloat(value: Value, args: Args): Value {
  const [fallback = 0] = args.take("float", ["default"]);
  refuseUndefined(value);
  const number = asNumber(value);
  if (number !== null) return Number(number);
  if (!(value instanceof Str)) return fallback;
  return parseFloatText(strip(value, null, true, true).text) ?? fallback;
}

function round(value: Value, args: Args): Value {
  const [precision = 0n, method = Str.own("common")] = args.take("round", ["precision", "method"]);
  const name = method instanceof Str ? method.text : "";
  if (!["common", "ceil", "floor"].includes(name)) bad("method must be common, ceil or floor");
  if (name === "common") return roundNumber(value, BigInt(indexOf(precision)));
  const number = asNumber(value);
  refuseUndefined(value);
  if (number === null) return bad(`must be real number, not ${typeName(value)}`);
  const unit = 10 ** indexOf(precision);
  return (name === "ceil" ? Math.ceil : Math.floor)(Number(number) * unit) / unit;
}

function fileSize(value: Value, args: Args): Value {
  const [isBinary = false] = args.take("filesizeformat", ["binary"]);
  const bytes = toFloat(value, new Args([]));
  const [base, unit] = isTrue(isBinary) ? [1024, "iB"] : [1000, "B"];
  const size = Number(bytes);
  if (size === 1) return Str.own("1 Byte");
  if (size < base) return Str.own(`${truncate(size)} Bytes`);
  const letters = isTrue(isBinary) ? "KMGTPEZY" : "kMGTPEZY";
  const at = [...letters].findIndex((_, i) => size < base ** (i + 2));
  const power = at === -1 ? letters.length - 1 : at;
  return Str.own(`${fixed((base * size) / base ** (power + 2), 1)} ${letters[power]!}${unit}`);
}

function extreme(name: string, sign: 1 | -1): Filter {
  return (value, args) => {
    const [isSensitive, of] = args.take(name, ["case_sensitive", "attribute"]);
    const [get, fold] = [attributeGetter(of), caseFolder(isSensitive)];
    let best: { readonly item: Value; readonly key: Value } | null = null;
    for (const item of iterate(value)) {
      const key = fold(get(item));
      if (best === null || sign * compare(key, best.key) > 0) best = { item, key };
    }
    return best?.item ?? new Undefined("No aggregated item, sequence was empty.");
  };
}

function dictSort(value: Value, args: Args): Value {
  const [isSensitive, by = Str.own("key"), isReversed = false] = args.take("dictsort", [
    "case_sensitive",
    "by",
    "reverse",
  ]);
  if (!(by instanceof Str) || (by.text !== "key" && by.text !== "value")) {
    bad('You can only sort by either "key" or "value"');
  }
  refuseUndefined(value);
  if (!(value instanceof Dict)) return bad(`'${typeName(value)}' object has no attribute 'items'`);
  const at = (by as Str).text === "key" ? 0 : 1;
  const fold = caseFolder(isSensitive);
  const sorted = sortBy([...value.entries()], (entry) => fold(entry[at]), isTrue(isReversed));
  return sorted.map((entry) => new Tuple(entry));
}

function sort(value: Value, args: Args): Value {
  const [isReversed = false, isSensitive, of] = args.take("sort", [
    "reverse",
    "case_sensitive",
    "attribute",
  ]);
  const fold = caseFolder(isSensitive);
  const parts = of instanceof Str ? of.text.split(",").map((part) => Str.own(part)) : [of];
  const getters = parts.map((part) => attributeGetter(part));
  return sortBy(listOf(value), (item) => getters.map((get) => fold(get(item))), isTrue(isReversed));
}

function groupBy(value: Value, args: Args): Value {
  const [of, fallback, isSensitive] = args.take(
    "groupby",
    ["attribute", "default", "case_sensitive"],
    1,
  );
  const get = attributeGetter(of, fallback);
  const fold = caseFolder(isSensitive);
  const groups: { readonly key: Value; readonly items: Value[] }[] = [];
  for (const item of sortBy(listOf(value), (one) => fold(get(one)))) {
    const key = fold(get(item));
    const last = groups.at(-1);
    if (last !== undefined && isEqual(last.key, key)) last.items.push(item);
    else groups.push({ key, items: [item] });
  }
  return groups.map((group) => new Tuple([get(group.items[0]!), group.items], ["grouper", "list"]));
}

function* batch(value: Value, args: Args): Generator<Value> {
  const [count, fill = none] = args.take("batch", ["linecount", "fill_with"], 1);
  const size = indexOf(count!);
  let row: Value[] = [];
  for (const item of iterate(value)) {
    if (row.length === size) {
      yield row;
      row = [];
    }
    row.push(item);
  }
  if (row.length === 0) return;
  const missing = fill === none ? 0 : Math.max(0, size - row.length);
  checkSize(missing);
  yield [...row, ...Array.from({ length: missing }, () => fill)];
}

function* slices(value: Value, args: Args): Generator<Value> {
  const [count, fill = none] = args.take("slice", ["slices", "fill_with"], 1);
  const list = listOf(value);
  const parts = indexOf(count!);
  if (parts === 0) fail("ZeroDivisionError", "integer division or modulo by zero");
  checkSize(parts);
  const [each, extra] = [Math.floor(list.length / parts), list.length % parts];
  let start = 0;
  for (let i = 0; i < parts; i++) {
    const end = start + each + (i < extra ? 1 : 0);
    const part = list.slice(start, end);
    yield fill !== none && i >= extra ? [...part, fill] : part;
    start = end;
  }
}

function* unique(value: Value, args: Args): Generator<Value> {
  const [isSensitive, of] = args.take("unique", ["case_sensitive", "attribute"]);
  const [get, fold] = [attributeGetter(of), caseFolder(isSensitive)];
  const seen = new Set<unknown>();
  for (const item of iterate(value)) {
    const key = keyOf(fold(get(item)));
    if (seen.has(key)) continue;
    seen.add(key);
    yield item;
  }
}

function* items(value: Value): Generator<Value> {
  if (value instanceof Undefined) return;
  if (!(value instanceof Dict)) bad("Can only get item pairs from a mapping.");
  for (const entry of (value as Dict).entries()) yield new Tuple(entry);
}

function reverse(value: Value): Value {
  if (value instanceof Str) return Str.join(value.characters().toReversed());
  if (tryIterate(value) === null) bad("argument must be iterable");
  const reversed = listOf(value).toReversed();
  return value instanceof Iter ? reversed : new Iter("reversed", reversed);
}

const fallback: Filter = (value, args) => {
  const [other = Str.own(""), isBoolean = false] = args.take("default", [
    "default_value",
    "boolean",
  ]);
  return value instanceof Undefined || (isTrue(isBoolean) && !isTrue(value)) ? other : value;
};

export const listFilters: Filters = {
  abs(value) {
    const number = asNumber(value);
    if (number === null) return bad(`bad operand type for abs(): '${typeName(value)}'`);
    return number < 0 || Object.is(number, -0) ? -number : number;
  },
  attr(value, args) {
    const [name] = args.take("attr", ["name"], 1);
    const found = attribute(value, (name as Str).text);
    // Keys of a dict are not its attributes.
    const isKey = value instanceof Dict && value.field((name as Str).text) === found;
    return isKey ? new Undefined(`'dict object' has no attribute '${(name as Str).text}'`) : found;
  },
  batch: (value, args) => new Iter("do_batch", batch(value, args)),
  count: length,
  d: fallback,
  default: fallback,
  dictsort: dictSort,
  filesizeformat: fileSize,
  first(value) {
    for (const item of tryIterate(value) ?? iterate(value)) return item;
    return new Undefined("No first item, sequence was empty.");
  },
  float: toFloat,
  groupby: groupBy,
  int: toInt,
  items: (value) => new Iter("do_items", items(value)),
  last(value) {
    if (value instanceof Iter) bad("'generator' object is not reversible");
    return listOf(value).at(-1) ?? new Undefined("No last item, sequence was empty.");
  },
  length,
  list: (value) => [...listOf(value)],
  max: extreme("max", 1),
  min: extreme("min", -1),
  reverse,
  round,
  slice: (value, args) => new Iter("sync_do_slice", slices(value, args)),
  sort,
  sum(value, args) {
    const [of, start = 0n] = args.take("sum", ["attribute", "start"]);
    if (start instanceof Str) bad("sum() can't sum strings [use ''.join(seq) instead]");
    const get = attributeGetter(of);
    let total = start;
    for (const item of iterate(value)) total = calculate("+", total, get(item));
    return total;
  },
  unique: (value, args) => new Iter("sync_do_unique", unique(value, args)),
};
