/** Names that are visible at a place in a template. */
import { Undefined, type Value } from "./values.ts";

export class Scope {
  readonly #own: Map<string, Value>;
  readonly #outer: Scope | null;

  constructor(outer: Scope | null, own: Iterable<readonly [string, Value]> = []) {
    this.#outer = outer;
    this.#own = new Map(own);
  }

  get(name: string): Value {
    const value = this.#own.get(name);
    if (value !== undefined) return value;
    return this.#outer === null ? new Undefined(`'${name}' is undefined`) : this.#outer.get(name);
  }

  set(name: string, value: Value): void {
    this.#own.set(name, value);
  }
}
