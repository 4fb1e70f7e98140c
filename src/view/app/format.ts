/** Numbers as people read them. */

export const shortNumber = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : String(Number(value.toPrecision(4)));

export const reward = (value: number | null): string =>
  value === null ? "–" : String(Number(value.toFixed(3)));

export const whole = (value: number): string => value.toLocaleString("en");

/** With a sign, for differences. */
export const signed = (value: number): string =>
  `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;

/** `1 task`, `2 tasks`. */
export const counted = (count: number, one: string): string =>
  `${whole(count)} ${one}${count === 1 ? "" : "s"}`;
