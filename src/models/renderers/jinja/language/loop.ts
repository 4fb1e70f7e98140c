/** The elements of a `for` and its `loop` variable. */
import { isEqual } from "./compare.ts";
import { fail } from "./errors.ts";
import { Callable, Tuple, Undefined, type Args, type Value } from "./values.ts";

/** State of one loop, of which `loop` gives a view. */
export class LoopState {
  readonly items: readonly Value[];
  /** 0 outside other loops of a recursive one. */
  readonly depth: number;
  at = -1;
  #last: Tuple | null = null;

  constructor(items: readonly Value[], depth: number) {
    this.items = items;
    this.depth = depth;
  }

  /** @param again runs the loop on other elements, where it is recursive */
  variable(again: ((items: Value) => Value) | null): Callable {
    return new Callable(
      "loop",
      (args) => {
        if (again !== null) return again(args.take("loop", ["iterable"], 1)[0]!);
        const message = "The loop must have the 'recursive' marker to be called recursively.";
        return fail("TypeError", message);
      },
      { text: "<LoopContext>", attribute: (name) => this.#attribute(name) },
    );
  }

  #attribute(name: string): Value | undefined {
    const { items, at, depth } = this;
    const { length } = items;
    switch (name) {
      case "index":
        return BigInt(at + 1);
      case "index0":
        return BigInt(at);
      case "revindex":
        return BigInt(length - at);
      case "revindex0":
        return BigInt(length - at - 1);
      case "first":
        return at === 0;
      case "last":
        return at === length - 1;
      case "length":
        return BigInt(length);
      case "depth":
        return BigInt(depth + 1);
      case "depth0":
        return BigInt(depth);
      case "previtem":
        return items[at - 1] ?? new Undefined("there is no previous item");
      case "nextitem":
        return items[at + 1] ?? new Undefined("there is no next item");
      case "cycle":
        return new Callable("cycle", ({ positional }: Args) => {
          if (positional.length === 0) fail("TypeError", "no items for cycling given");
          return positional[at % positional.length]!;
        });
      case "changed":
        return new Callable("changed", ({ positional }: Args) => {
          const values = new Tuple(positional);
          const isSame = this.#last !== null && isEqual(this.#last, values);
          this.#last = values;
          return !isSame;
        });
      default:
        return undefined;
    }
  }
}
