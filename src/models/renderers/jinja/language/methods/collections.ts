/** The methods of dicts, lists, tuples, ranges and numbers that change nothing. */
import { isEqual } from "../compare.ts";
import { fail } from "../errors.ts";
import { indexOf } from "../numbers.ts";
import {
  listOf,
  none,
  typeName,
  View,
  type Args,
  type Dict,
  type Range,
  type Tuple,
  type Value,
} from "../values.ts";
import type { Methods } from "./method.ts";

const view =
  (kind: View["kind"]) =>
  (self: Dict, args: Args): Value => {
    args.take(kind, []);
    return new View(kind, self);
  };

export const dictMethods: Methods<Dict> = {
  get(self, args) {
    const [key, fallback = none] = args.take("get", ["key", "default"], 1);
    return self.get(key!) ?? fallback;
  },
  items: view("items"),
  keys: view("keys"),
  values: view("values"),
  copy: (self) => self,
};

export const listMethods: Methods<readonly Value[] | Tuple | Range> = {
  count(self, args) {
    const [value] = args.take("count", ["value"], 1);
    return BigInt(listOf(self).filter((item) => isEqual(item, value!)).length);
  },
  index(self, args) {
    const [value, start, stop] = args.take("index", ["value", "start", "stop"], 1);
    const items = listOf(self);
    const at = (given: Value | undefined, fallback: number): number => {
      const bound = given === undefined ? fallback : indexOf(given);
      return bound < 0 ? Math.max(0, bound + items.length) : bound;
    };
    const [from, to] = [at(start, 0), at(stop, items.length)];
    const found = items.findIndex((item, i) => i >= from && i < to && isEqual(item, value!));
    if (found === -1) fail("ValueError", `value is not in ${typeName(self)}`);
    return BigInt(found);
  },
  copy: (self) => self,
};

export const numberMethods: Methods<number | bigint> = {
  is_integer: (self) => typeof self === "bigint" || Number.isInteger(self),
  bit_length(self) {
    if (typeof self !== "bigint") fail("TypeError", "float has no bit_length");
    return self === 0n ? 0n : BigInt((self < 0n ? -self : self).toString(2).length);
  },
};
