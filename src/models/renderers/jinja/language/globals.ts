/** The functions that every template may call. */
import { fail } from "./errors.ts";
import { spend, TemplateLimitError } from "./limits.ts";
import { indexOf } from "./numbers.ts";
import { strftime } from "./strftime.ts";
import { empty, Str } from "./str.ts";
import {
  Callable,
  Dict,
  iterate,
  listOf,
  Namespace,
  none,
  Range,
  refuseUndefined,
  typeName,
  type Args,
  type Value,
} from "./values.ts";
import { str } from "./write.ts";

/** As in Jinja's sandbox. */
const longestRange = 100_000;

function range(args: Args): Value {
  const given = args.positional.map((value) => {
    if (typeof value === "bigint" || typeof value === "boolean") return BigInt(indexOf(value));
    refuseUndefined(value);
    return fail("TypeError", `'${typeName(value)}' object cannot be interpreted as an integer`);
  });
  if (given.length === 0 || given.length > 3 || args.named.size > 0) {
    fail("TypeError", `range expected 1 to 3 arguments, got ${given.length}`);
  }
  const [start, stop] = given.length === 1 ? [0n, given[0]!] : [given[0]!, given[1]!];
  const made = new Range(start, stop, given[2] ?? 1n);
  spend(made.length > longestRange ? 0 : 1);
  if (made.length <= longestRange) return made;
  throw new TemplateLimitError(`its range has more than ${longestRange} elements`);
}

/** The entries that `dict(...)` and `namespace(...)` take. */
function* entriesOf(name: string, args: Args): Generator<readonly [Value, Value]> {
  const [first, ...others] = args.positional;
  if (others.length > 0) fail("TypeError", `${name} expected at most 1 argument`);
  if (first instanceof Dict) yield* first.entries();
  else if (first !== undefined) {
    for (const pair of iterate(first)) {
      const [key, value, ...more] = listOf(pair);
      if (value === undefined || more.length > 0) {
        fail("ValueError", "dictionary update sequence elements need length 2");
      }
      yield [key!, value];
    }
  }
  for (const [key, value] of args.named) yield [Str.own(key), value];
}

function cycler({ positional }: Args): Value {
  if (positional.length === 0) fail("TypeError", "at least one item has to be provided");
  let at = 0;
  const methods: Readonly<Record<string, Callable>> = {
    next: new Callable("next", () => {
      const value = positional[at]!;
      at = (at + 1) % positional.length;
      return value;
    }),
    reset: new Callable("reset", () => {
      at = 0;
      return none;
    }),
  };
  return new Callable("cycler", () => fail("TypeError", "'Cycler' object is not callable"), {
    attribute: (name) => (name === "current" ? positional[at]! : methods[name]),
  });
}

function joiner(args: Args): Value {
  const [separator = Str.own(", ")] = args.take("joiner", ["sep"]);
  let isUsed = false;
  return new Callable("joiner", () => {
    if (isUsed) return separator;
    isUsed = true;
    return empty;
  });
}

/** @param date what `strftime_now` takes for today, so that prompts stay the same */
export function globalsFor(date: string): ReadonlyMap<string, Value> {
  const functions: Readonly<Record<string, (args: Args) => Value>> = {
    range,
    dict: (args) => new Dict(entriesOf("dict", args)),
    namespace: (args) =>
      new Namespace(
        Array.from(entriesOf("namespace", args), ([key, value]) => [str(key).text, value]),
      ),
    cycler,
    joiner,
    raise_exception(args) {
      const [message] = args.take("raise_exception", ["message"], 1);
      return fail("TemplateError", str(message!).text);
    },
    strftime_now(args) {
      const [format] = args.take("strftime_now", ["format"], 1);
      return Str.own(strftime(date, str(format!).text));
    },
  };
  return new Map(Object.entries(functions).map(([name, call]) => [name, new Callable(name, call)]));
}
