/** Units after a result. What is not known here is a word, and words do not change a result. */
import { Arithmetic, type Rational, one, whole } from "./rational.ts";

/** What is measured, with its powers, and what a number in this unit is multiplied by. */
export interface Unit {
  readonly dimension: string;
  readonly factor: Rational;
}

/** Dimension, then units: names and the numerator and denominator of the factor. */
const table = `
length: mm,millimeter 1/1000; cm,centimeter 1/100; dm 1/10; m,meter 1; km,kilometer 1000
length: in,inch,inche 127/5000; ft,foot,feet 381/1250; yd,yard 1143/1250; mi,mile 201168/125
time: s,sec,second 1; min,minute 60; h,hr,hour 3600; day 86400; week 604800
mass: mg,milligram 1/1000; g,gram 1; kg,kilogram 1000; lb 45359237/100000; oz 45359237/1600000
volume: ml,milliliter 1/1000; l,liter 1
money $: dollar,usd 1; cent 1/100
money €: euro,eur 1
money £: gbp 1
money ¥: yen 1
angle: degree,deg 1
radians: radian,rad 1
temperature C: c,celsius 1
temperature F: f,fahrenheit 1
a.m.: am 1
p.m.: pm 1
count: hundred 100; thousand 1000; million 1000000; billion 1000000000; trillion 1000000000000; dozen 12`;

const known: ReadonlyMap<string, Unit> = new Map(
  table
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [dimension = "", rest = ""] = line.split(": ");
      return rest.split("; ").flatMap((entry) => {
        const [names = "", factor = "1"] = entry.split(" ");
        const [n = "1", d = "1"] = factor.split("/");
        const unit = { dimension, factor: { n: BigInt(n), d: BigInt(d) } };
        return names.split(",").map((name): [string, Unit] => [name, unit]);
      });
    }),
);

/** The unit of a word in lower case, singular or plural; null where it is none. */
export const unitOfWord = (word: string): Unit | null =>
  known.get(word) ??
  known.get(word.replace(/metre/u, "meter").replace(/litre/u, "liter")) ??
  known.get(word.replace(/s$/u, "").replace(/metre/u, "meter").replace(/litre/u, "liter")) ??
  null;

/** Units of one letter, which are variables outside of `\text{}`. */
export const isUnitLetter = (letter: string): boolean => /^[msghlLNJWVK]$/u.test(letter);

const powers: Readonly<Record<string, number>> = {
  square: 2,
  sq: 2,
  squared: 2,
  cubic: 3,
  cubed: 3,
};

/** The unit that words say: "square cm", "cm ^2", "km / h"; null where one of them is not known. */
export function unitOf(words: readonly string[]): { scale: Rational; unit: Unit | null } {
  const math = new Arithmetic();
  const sizes = new Map<string, number>();
  let [scale, factor, sign, next] = [one, one, 1, 1];
  let isKnown = words.length > 0;
  for (const word of words) {
    const name = word.toLowerCase().replace(/\^-?\d$/u, "");
    const power = Number(/\^(-?\d)$/u.exec(word)?.[1] ?? powers[name] ?? 1) * sign;
    const unit = unitOfWord(name);
    if (name === "/" || name === "per") sign = -1;
    else if (name === "of" || name === "*") continue;
    else if (powers[name] !== undefined) next = power;
    else if (unit?.dimension === "count") scale = math.multiply(scale, unit.factor);
    else if (unit === null) isKnown = false;
    else {
      const exponent = next === 1 ? power : next;
      next = 1;
      sizes.set(unit.dimension, (sizes.get(unit.dimension) ?? 0) + exponent);
      factor = math.multiply(factor, math.power(unit.factor, exponent));
    }
  }
  const dimension = [...sizes]
    .map(([name, power]) => `${name}^${power}`)
    .toSorted()
    .join(" ");
  return { scale, unit: isKnown && dimension !== "" ? { dimension, factor } : null };
}

export const degree: Unit = { dimension: "angle^1", factor: whole(1) };
