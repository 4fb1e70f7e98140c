/** Draws from a seeded stream. */
import { createRandom } from "../../src/util/random.ts";

export class Draw {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  /** From `least` to `most`. */
  int(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  of<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)]!;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  text(length: number, signs: string): string {
    return Array.from({ length }, () => signs[this.int(0, signs.length - 1)]).join("");
  }

  digits(length: number): string {
    return this.text(length, "0123456789");
  }

  hex(length: number): string {
    return this.text(length, "0123456789abcdef");
  }

  /** `#` is a digit, `N` one from 2 to 9, `@` a capital letter; the rest stands for itself. */
  form(form: string): string {
    return form.replaceAll(/[#N@]/gu, (sign) =>
      sign === "#"
        ? this.digits(1)
        : sign === "N"
          ? String(this.int(2, 9))
          : this.text(1, "ABCDEFGHJKLMNPRSTUVWXYZ"),
    );
  }
}
