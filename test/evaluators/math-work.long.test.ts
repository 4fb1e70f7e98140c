/** What the longest and deepest texts cost: models write them, and each has to end soon. */
import { describe, expect, it } from "vitest";
import { math } from "../../src/evaluators/index.ts";
import { processorClock } from "../processor-time.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const score = (text: string, answer: string): number =>
  math()(taskOf({ answer }), episodeOf(text)).reward;

const n = 100_000;
const parts = (count: number, of: (i: number) => string, between: string): string =>
  Array.from({ length: count }, (_, i) => of(i)).join(between);
const texts: Readonly<Record<string, string>> = {
  ansOf: "answer of ".repeat(9900),
  ansTo: "answer to x is ".repeat(6000),
  sp: "answer is 1" + " ".repeat(80000) + "because",
  sp2: "answer is 1 because" + " ".repeat(80000) + "x",
  sp3: ("1" + " ".repeat(300)).repeat(300),
  begins: "\\begin{align}".repeat(7000),
  begins2: "\\begin{align} \\end{equation}".repeat(3000),
  opens: "$1 ".repeat(30000),
  tags: "<answer>".repeat(12000),
  towers: "9^{9^{9^{9}}}",
  p: "10^{10^9}",
  p2: "10^{(10^9)}",
  p3: "10^{-(10^9)}",
  p4: "(1/3)^{99999}",
  p5: "2^{19999}+3^{9999}",
  f: "100000!",
  f2: "1999!/1998!",
  f3: "2000!+1",
  rf: "5" + "!".repeat(1900),
  binom: "\\binom{1000000000}{500000000}",
  binom2: "\\binom{4000}{2000}",
  depth: "(".repeat(900) + "1" + ")".repeat(900),
  deep: "{".repeat(50000) + "1" + "}".repeat(49990),
  deep2: "(".repeat(49999) + "1",
  fr: "\\frac{".repeat(300) + "1",
  signs: "-".repeat(1900),
  pluses: "x+".repeat(45000),
  plus2: "x+".repeat(990) + "1",
  nines: "9".repeat(n - 20),
  nines2: "9".repeat(5900),
  dec: "0." + "3".repeat(5000) + "...",
  dec2: "0." + "1".repeat(n - 30),
  grp: "1,111" + ",111".repeat(20000),
  grp2: "111,".repeat(24000),
  grp3: "1 111".repeat(10000),
  commas: "1,".repeat(990),
  ones: parts(199, (i) => `x^{${i}}`, ","),
  ones2: parts(150, (i) => `\\sin ${i}`, ","),
  boxes: "\\boxed{".repeat(14000),
  boxes2: "\\boxed{1} and ".repeat(7000),
  bs: "\\".repeat(90000),
  text: "\\text{".repeat(15000),
  dollars: "$ ".repeat(45000),
  dollars2: "$$".repeat(45000),
  d3: "$1$ and ".repeat(12000),
  paren: "\\( ".repeat(30000),
  spaces: " ".repeat(90000),
  circ: "^{ ".repeat(30000),
  ans: "answer is ".repeat(9900),
  ans2: "answer: 1 ".repeat(9900),
  ans3: "answer is " + "a".repeat(90000),
  ans4: "answer is " + "a ".repeat(45000),
  ans5: "answer is $" + "a ".repeat(45000),
  hashes: "#### 1a\n".repeat(12000),
  hashes2: "#".repeat(90000),
  stars: "**".repeat(45000),
  stars2: "answer:" + "*".repeat(90000),
  nl: "\n".repeat(90000),
  poly: "(x+y+z+1)^{30}",
  poly2: "(a+b+c+d+f+g+h)^{12}",
  poly3: "(x+1)^{99999}",
  prod: "(x+1)(x+2)".repeat(60),
  prod2: parts(300, (i) => `(a_${i}+1)`, ""),
  frs: parts(300, (i) => `1/(x+${i})`, "+"),
  frs2: parts(400, (i) => `1/${i + 2}`, "+"),
  sins: "\\sin(".repeat(90) + "x" + ")".repeat(90),
  sins2: parts(300, (i) => `\\sin(${i}x)`, "+"),
  sins3: "(" + parts(20, (i) => `\\sin(${i}x)`, "+") + ")^3",
  roots: parts(300, (i) => `\\sqrt{${i + 2}}`, "+"),
  roots2: "\\sqrt{" + "9".repeat(2000) + "}",
  roots3: "\\sqrt[99]{" + "9".repeat(1500) + "}",
  roots4: "\\sqrt{" + "\\sqrt{".repeat(40) + "2" + "}".repeat(41),
  pm: "\\pm 1".repeat(300),
  pm2: parts(190, () => "\\pm 1", ","),
  mat: "\\begin{pmatrix}" + "1&".repeat(900) + "1\\end{pmatrix}",
  mats: "\\begin{pmatrix}".repeat(900),
  set: "\\{" + parts(190, (i) => `\\sin ${i}`, ",") + "\\}",
  set2: "\\{".repeat(90) + "1,2" + "\\}".repeat(90),
  nest: "(1,".repeat(95) + "1" + ")".repeat(95),
  pms: "\\{".repeat(90) + "\\pm 1, 2" + "\\}".repeat(90),
  cup: "(1,2)\\cup".repeat(180) + "(1,2)",
  eq: "1=".repeat(900) + "1",
  lt: "1<".repeat(900) + "1",
  eqs: parts(190, (i) => `x=${i}`, ","),
  ratio: "1:".repeat(900) + "1",
  wordy: "word ".repeat(1900),
  abs: "|".repeat(1900),
  units: "5" + "\\text{ cm}".repeat(500),
  gcds: "\\gcd(" + "9".repeat(5000) + "," + "7".repeat(5000) + ")",
  exps: "e^{".repeat(90) + "x" + "}".repeat(90),
  pow: "x^{99999}y^{99999}",
  ipow: "(1+i)^{99999}",
  spow: "(1+\\sqrt2)^{9999}",
  dpow: "1.1^{9999}",
  sci: "1e99999",
  sci2: "1e-99999",
  rep: "0.(" + "1".repeat(50) + ")",
  based: ("1".repeat(900) + " ").repeat(100),
  based2: "(1".repeat(40000),
  under: "1_".repeat(40000),
  subs: "x_{" + "a".repeat(1900) + "}",
  primes: "x" + "'".repeat(1900),
  half: "½".repeat(1900),
  sup: "²".repeat(90000),
  amp: "&".repeat(1900),
  approx: "1~".repeat(900) + "1",
  floor: "\\lfloor ".repeat(300),
  choose: "{1 \\choose ".repeat(90),
  letters: "a".repeat(90000),
  letters2: "sin".repeat(30000),
  ap: "a. ".repeat(30000),
  deg: "1" + "°".repeat(1900),
  mixed: "1 1/".repeat(900),
  openBrace: "answer is {" + "aa ".repeat(30_000),
  millions: "5" + "\\text{ million}".repeat(1_900),
  proportion: "3^{12000}x=2^{19990}y",
};

describe("math", () => {
  it.each(Object.entries(texts))("is quick with %s", (_name, text) => {
    const seconds = processorClock();
    const long = text.slice(0, 99_000);
    score(`\\boxed{${long}}`, "1");
    score(long, "1, 2, 3");
    score(`\\boxed{1+${long}}`, long);
    score(`The answer is $${long}$ and 1`, long);
    expect(seconds()).toBeLessThan(1);
  });

  it("does not hold equal what it cannot compute", () => {
    expect(score("\\boxed{10^{10^9}}", "10^{10^9}+1")).toBe(0);
    expect(score("\\boxed{10^{10^9}}", "10^{(10^9)}")).toBe(1);
    expect(score("\\boxed{100000!}", "100001!")).toBe(0);
    expect(score(`\\boxed{${"9".repeat(50_000)}}`, "9".repeat(49_999))).toBe(0);
    expect(score(`\\boxed{${"9".repeat(50_000)}}`, "9".repeat(50_000))).toBe(1);
  });
});
