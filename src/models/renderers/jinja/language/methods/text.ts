/** The methods of str. Positions are of code points; every part of a result keeps its origin. */
import { fail } from "../errors.ts";
import { charactersPerStep, spend, spendText } from "../limits.ts";
import { indexOf, textOf } from "../numbers.ts";
import { empty, Str, unitsOf } from "../str.ts";
import { iterate, none, Tuple, typeName, type Args, type Value } from "../values.ts";
import type { Methods } from "./method.ts";
import { textPredicates } from "./text-predicates.ts";
import { split, splitLines, strip, splitOnce } from "./text-parts.ts";

/** The part of a text between two positions in code points, and the first of them. */
function windowOf(self: Str, start: Value | undefined, end: Value | undefined): [Str, number] {
  const { length } = self;
  const at = (given: Value | undefined, fallback: number): number => {
    const bound = given === undefined || given === none ? fallback : indexOf(given);
    return bound < 0 ? Math.max(0, bound + length) : bound;
  };
  const [from, to] = [at(start, 0), Math.min(length, at(end, length))];
  const units = unitsOf(self.text);
  // Beyond its end, not even an empty text is found.
  if (from > length || from > to) return [empty, -1];
  return [units === null ? self.cut(from, to) : self.cut(units[from]!, units[to]), from];
}

function findIn(self: Str, args: Args, name: string, isLast: boolean): number {
  const [sought, start, end] = args.take(name, ["sub", "start", "end"], 1);
  const { text } = textOf(sought, name);
  const [part, from] = windowOf(self, start, end);
  if (from === -1) return -1;
  spend(part.text.length / charactersPerStep);
  const unit = isLast ? part.text.lastIndexOf(text) : part.text.indexOf(text);
  return unit === -1 ? -1 : from + part.cut(0, unit).length;
}

function found(position: number): bigint {
  if (position === -1) fail("ValueError", "substring not found");
  return BigInt(position);
}

function matches(
  self: Str,
  args: Args,
  name: string,
  test: (text: string, part: string) => boolean,
): boolean {
  const [sought, start, end] = args.take(name, ["prefix", "start", "end"], 1);
  const [part, from] = windowOf(self, start, end);
  if (!(sought instanceof Tuple) && !(sought instanceof Str)) {
    fail("TypeError", `${name} first arg must be str or a tuple of str, not ${typeName(sought!)}`);
  }
  const texts = sought instanceof Tuple ? sought.items : [sought];
  return from !== -1 && texts.some((one) => test(part.text, textOf(one, name).text));
}

/** How often a text stands in another without overlap, and where, in UTF-16 units. */
function positions(self: Str, sought: string, most: number): number[] {
  const at: number[] = [];
  spend(self.text.length / charactersPerStep);
  if (sought === "") {
    const units = unitsOf(self.text) ?? Array.from({ length: self.text.length + 1 }, (_, i) => i);
    return units.slice(0, most);
  }
  for (let i = self.text.indexOf(sought); i !== -1 && at.length < most;) {
    at.push(i);
    i = self.text.indexOf(sought, i + sought.length);
  }
  spend(at.length);
  return at;
}

export function replaceText(self: Str, old: Str, by: Str, count = -1): Str {
  const at = positions(self, old.text, count < 0 ? Infinity : count);
  if (at.length === 0) return self;
  spendText(self.text.length + at.length * by.text.length);
  const parts: Str[] = [];
  let end = 0;
  for (const start of at) {
    parts.push(self.cut(end, start), by);
    end = start + old.text.length;
  }
  parts.push(self.cut(end));
  return Str.join(parts);
}

export const capitalize = (self: Str): Str => {
  const first = self.text.codePointAt(0)! > 0xffff ? 2 : 1;
  return Str.join([
    self.cut(0, first).mapped(self.text.slice(0, first).toUpperCase()),
    self.cut(first).mapped(self.text.slice(first).toLowerCase()),
  ]);
};

/** A fill of one character, and how many of it are missing. */
function padding(self: Str, args: Args, name: string): [Str, number, number] {
  const [width, fill = Str.own(" ")] = args.take(name, ["width", "fillchar"], 1);
  const own = textOf(fill, name);
  if (own.length !== 1) {
    fail("TypeError", "The fill character must be exactly one character long");
  }
  const wanted = indexOf(width!);
  return [own, Math.max(0, wanted - self.length), wanted];
}

export function center(self: Str, fill: Str, missing: number, width: number): Str {
  const left = Math.floor(missing / 2) + (missing & width & 1);
  return Str.join([fill.times(left), self, fill.times(missing - left)]);
}

const stripped =
  (name: string, isLeft: boolean, isRight: boolean) =>
  (self: Str, args: Args): Value => {
    const [characters] = args.take(name, ["chars"]);
    const set = characters === undefined || characters === none ? null : textOf(characters, name);
    return strip(self, set, isLeft, isRight);
  };

const splitting =
  (name: string, isRight: boolean) =>
  (self: Str, args: Args): Value => {
    const [separator = none, most = -1n] = args.take(name, ["sep", "maxsplit"]);
    const by = separator === none ? null : textOf(separator, name).text;
    return split(self, by, indexOf(most), isRight);
  };

const parting =
  (name: string, isRight: boolean) =>
  (self: Str, args: Args): Value => {
    const [separator] = args.take(name, ["sep"], 1);
    return new Tuple(splitOnce(self, textOf(separator, name), isRight));
  };

export const textMethods: Methods<Str> = {
  ...textPredicates,
  capitalize: (self) => capitalize(self),
  casefold: (self) => self.mapped(self.text.toLowerCase().replaceAll("ß", "ss")),
  lower: (self) => self.mapped(self.text.toLowerCase()),
  upper: (self) => self.mapped(self.text.toUpperCase()),
  swapcase: (self) =>
    Str.join(
      self.characters().map((one) => {
        const upper = one.text.toUpperCase();
        return one.mapped(upper === one.text ? one.text.toLowerCase() : upper);
      }),
    ),
  title: (self) =>
    self.mapped(
      self.text.replaceAll(
        /(\p{Cased})(\p{Cased}*)/gu,
        (_, first: string, rest: string) => first.toUpperCase() + rest.toLowerCase(),
      ),
    ),
  center(self, args) {
    return center(self, ...padding(self, args, "center"));
  },
  ljust(self, args) {
    const [fill, missing] = padding(self, args, "ljust");
    return self.plus(fill.times(missing));
  },
  rjust(self, args) {
    const [fill, missing] = padding(self, args, "rjust");
    return fill.times(missing).plus(self);
  },
  zfill(self, args) {
    const [width] = args.take("zfill", ["width"], 1);
    const zeros = Str.own("0").times(indexOf(width!) - self.length);
    const sign = /^[+-]/.test(self.text) ? 1 : 0;
    return Str.join([self.cut(0, sign), zeros, self.cut(sign)]);
  },
  count(self, args) {
    const [sought, start, end] = args.take("count", ["sub", "start", "end"], 1);
    const [part, from] = windowOf(self, start, end);
    return BigInt(from === -1 ? 0 : positions(part, textOf(sought, "count").text, Infinity).length);
  },
  find: (self, args) => BigInt(findIn(self, args, "find", false)),
  rfind: (self, args) => BigInt(findIn(self, args, "rfind", true)),
  index: (self, args) => found(findIn(self, args, "index", false)),
  rindex: (self, args) => found(findIn(self, args, "rindex", true)),
  startswith: (self, args) =>
    matches(self, args, "startswith", (text, part) => text.startsWith(part)),
  endswith: (self, args) => matches(self, args, "endswith", (text, part) => text.endsWith(part)),
  join(self, args) {
    const [items] = args.take("join", ["iterable"], 1);
    const parts: Str[] = [];
    for (const item of iterate(items!)) {
      if (!(item instanceof Str)) {
        fail(
          "TypeError",
          `sequence item ${parts.length}: expected str instance, ${typeName(item)} found`,
        );
      }
      parts.push(item);
    }
    return Str.join(parts, self);
  },
  replace(self, args) {
    const [old, by, count = -1n] = args.take("replace", ["old", "new", "count"], 2);
    return replaceText(self, textOf(old, "replace"), textOf(by, "replace"), indexOf(count));
  },
  removeprefix(self, args) {
    const { text } = textOf(args.take("removeprefix", ["prefix"], 1)[0], "removeprefix");
    return self.text.startsWith(text) ? self.cut(text.length) : self;
  },
  removesuffix(self, args) {
    const { text } = textOf(args.take("removesuffix", ["suffix"], 1)[0], "removesuffix");
    return text !== "" && self.text.endsWith(text)
      ? self.cut(0, self.text.length - text.length)
      : self;
  },
  strip: stripped("strip", true, true),
  lstrip: stripped("lstrip", true, false),
  rstrip: stripped("rstrip", false, true),
  split: splitting("split", false),
  rsplit: splitting("rsplit", true),
  partition: parting("partition", false),
  rpartition: parting("rpartition", true),
  splitlines(self, args) {
    const [keeps = false] = args.take("splitlines", ["keepends"]);
    return splitLines(self, keeps === true || (typeof keeps === "bigint" && keeps !== 0n));
  },
  expandtabs(self, args) {
    const [size = 8n] = args.take("expandtabs", ["tabsize"]);
    const tab = indexOf(size);
    let column = 0;
    const parts = self.characters().map((one) => {
      if (one.text === "\t") {
        const width = tab > 0 ? tab - (column % tab) : 0;
        column += width;
        return one.like(" ").times(width);
      }
      column = one.text === "\n" || one.text === "\r" ? 0 : column + 1;
      return one;
    });
    return Str.join(parts);
  },
};
