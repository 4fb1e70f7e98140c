/** JSON values by number: equal ones have the same. The order of an object's fields does not matter. */
import type { JsonValue } from "../../core/message.ts";
import type { WorkBudget } from "../work-budget.ts";

export class ValueIds {
  readonly #budget: WorkBudget;
  readonly #byText = new Map<string, number>();
  readonly #byObject = new Map<object, number>();

  constructor(budget: WorkBudget) {
    this.#budget = budget;
  }

  idOf(value: JsonValue): number {
    if (typeof value !== "object" || value === null) {
      this.#budget.spend(1);
      return this.#numberOf(JSON.stringify(value));
    }
    const known = this.#byObject.get(value);
    if (known !== undefined) return known;
    const id = this.#numberOf(this.#textOf(value));
    this.#byObject.set(value, id);
    return id;
  }

  #textOf(value: object): string {
    if (Array.isArray(value)) {
      this.#budget.spend(1 + value.length);
      return `[${(value as readonly JsonValue[]).map((item) => this.idOf(item)).join()}]`;
    }
    const entries = Object.entries(value as Readonly<Record<string, JsonValue>>);
    this.#budget.spend(1 + 2 * entries.length);
    const fields = entries
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => `${JSON.stringify(key)}:${this.idOf(field)}`);
    return `{${fields.join()}}`;
  }

  #numberOf(text: string): number {
    const known = this.#byText.get(text) ?? this.#byText.size;
    this.#byText.set(text, known);
    return known;
  }
}
