/** Python's `strftime` on a fixed date. */

const [months, days] = [
  "January February March April May June July August September October November December".split(
    " ",
  ),
  "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" "),
];
const two = (value: number): string => String(value).padStart(2, "0");

const parts: Readonly<Record<string, (date: Date) => string | number>> = {
  Y: (date) => date.getUTCFullYear(),
  y: (date) => two(date.getUTCFullYear() % 100),
  m: (date) => two(date.getUTCMonth() + 1),
  d: (date) => two(date.getUTCDate()),
  B: (date) => months[date.getUTCMonth()]!,
  b: (date) => months[date.getUTCMonth()]!.slice(0, 3),
  A: (date) => days[date.getUTCDay()]!,
  a: (date) => days[date.getUTCDay()]!.slice(0, 3),
  H: (date) => two(date.getUTCHours()),
  I: (date) => two(date.getUTCHours() % 12 || 12),
  M: (date) => two(date.getUTCMinutes()),
  S: (date) => two(date.getUTCSeconds()),
  p: (date) => (date.getUTCHours() < 12 ? "AM" : "PM"),
  j: (date) => {
    const start = Date.UTC(date.getUTCFullYear(), 0, 1);
    return String(1 + Math.floor((date.getTime() - start) / 86_400_000)).padStart(3, "0");
  },
  w: (date) => date.getUTCDay(),
};

/** @param text the date as `%d %b %Y`; another text stands for itself */
export function strftime(text: string, format: string): string {
  const date = new Date(/\b\d{4}\b/.test(text) ? `${text} UTC` : NaN);
  if (Number.isNaN(date.getTime())) return text;
  return format.replaceAll(/%(-?)([a-zA-Z%])/g, (all, short: string, letter: string) => {
    if (letter === "%") return "%";
    const part = String(parts[letter]?.(date) ?? all);
    return short === "" ? part : part.replace(/^0+(?=\d)/, "");
  });
}
