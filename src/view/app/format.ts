/** Numbers as people read them. */

export const shortNumber = (value: number | null | undefined, digits = 4): string =>
  value === null || value === undefined ? "–" : String(Number(value.toPrecision(digits)));

export const reward = (value: number | null): string =>
  value === null ? "–" : String(Number(value.toFixed(3)));

export const whole = (value: number): string => value.toLocaleString("en");

export const percent = (value: number | null): string =>
  value === null ? "–" : `${Number((100 * value).toFixed(1))} %`;

/** With a sign, for differences. */
export const signed = (value: number): string =>
  `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;

/** `1 task`, `2 tasks`. */
export const counted = (count: number, one: string): string =>
  `${whole(count)} ${one}${count === 1 ? "" : "s"}`;

/** `48 s`, `12 min`, `3 h 20 min`. */
export function duration(seconds: number): string {
  if (seconds < 100) return `${Number(seconds.toPrecision(2))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const rest = minutes % 60;
  return `${whole(Math.floor(minutes / 60))} h${rest === 0 ? "" : ` ${rest} min`}`;
}

/** `3.2 M`, for numbers whose last digits say nothing. */
export function rough(value: number): string {
  const sizes = [
    [1e9, " G"],
    [1e6, " M"],
    [1e3, " k"],
  ] as const;
  const size = sizes.find(([least]) => Math.abs(value) >= least);
  return size === undefined
    ? String(Number(value.toPrecision(3)))
    : `${Number((value / size[0]).toPrecision(3))}${size[1]}`;
}

/** `today 14:03`, `24 Nov 14:03`, with the year where it is another one. */
export function dateText(at: number, now: number = Date.now()): string {
  const [date, today] = [new Date(at), new Date(now)];
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (date.toDateString() === today.toDateString()) return `today ${time}`;
  const day = date.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    ...(date.getFullYear() === today.getFullYear() ? {} : { year: "numeric" }),
  });
  return `${day} ${time}`;
}
