/** Results of mathematical problems. */
import { describe, expect, it } from "vitest";
import { math } from "../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const score = (text: string, answer: unknown, options: Parameters<typeof math>[0] = {}): number =>
  math(options)(taskOf({ answer }), episodeOf(text)).reward;

describe("math", () => {
  it.each([
    // From the tests and comments of MATH's grader and of minerva_math.
    ["\\frac{1}{2}", "0.5"],
    ["\\frac12", "1/2"],
    ["\\frac1{2}", "\\dfrac{1}{2}"],
    ["\\tfrac{3}{4}", "\\frac{3}{4}"],
    ["\\sqrt2", "\\sqrt{2}"],
    ["10,000", "10000"],
    ["1,234.5", "1234.50"],
    ["50\\%", "0.5"],
    ["\\$18.90", "18.9"],
    ["90^\\circ", "90"],
    ["5\\text{ cm}", "5"],
    ["5 \\mbox{ cm}^2", "5"],
    ["\\text{Evelyn}", "\\mathrm{evelyn}"],
    ["x = 5", "5"],
    ["\\left(3, \\frac{\\pi}{2}\\right)", "(3,\\pi/2)"],
    ["1\\frac{1}{2}", "1.5"],
    ["-\\frac{3}{2}", "\\frac{-3}{2}"],
    ["\\frac{\\sqrt{3}}{3}", "\\frac{1}{\\sqrt{3}}"],
    ["2\\sqrt{2}", "\\sqrt{8}"],
    ["(x+1)^2", "x^2 + 2x + 1"],
    ["x^{2}-1", "(x - 1)(x + 1)"],
    ["\\sin^2 x + \\cos^2 x", "1"],
    ["\\sin 2x", "2\\sin x\\cos x"],
    ["\\log_2 8", "3"],
    ["\\ln e^2", "2"],
    ["e^{\\ln 3}", "3"],
    ["\\sin^{-1} 1", "\\frac{\\pi}{2}"],
    ["\\binom{5}{2}", "10"],
    ["5!", "120"],
    ["|{-3}|", "3"],
    ["|x - 1|", "|1 - x|"],
    ["\\sqrt[3]{-8}", "-2"],
    ["2^{10}", "1024"],
    ["2**10", "1024"],
    ["sqrt(2)/2", "1/sqrt(2)"],
    ["a_1 + a_2", "a_{2} + a_{1}"],
    ["\\alpha\\beta", "\\beta \\cdot \\alpha"],
    ["\\{1, 2, 3\\}", "\\{3,1,2\\}"],
    ["\\{1, 2\\}", "\\{1, 2, 2\\}"],
    ["1, -2", "-2,1"],
    ["1 \\pm \\sqrt{2}", "1 - \\sqrt{2}, 1 + \\sqrt{2}"],
    ["[0, 1)", "[0,\\frac{2}{2})"],
    ["(-\\infty, 2) \\cup (3, \\infty)", "(3,\\infty) \\cup (-\\infty, 2)"],
    [
      "\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}",
      "\\begin{bmatrix}1&2\\\\3&\\frac{8}{2}\\end{bmatrix}",
    ],
    ["y = 2x + 3", "2x+3"],
    ["2x + 4y = 6", "x + 2y - 3 = 0"],
    ["f(x) = x^2", "x^2"],
    ["f(x) = x^2", "y = x^2"],
    ["y = 5x + 5", "5x + 5 = y"],
    ["y = 5x + 5", "2y = 10x + 10"],
    ["5x + 5 = y", "5x + 5"],
    ["-y = -5x - 5", "y - 5 = 5x"],
    ["8, 5", "8 \\text{ and } 5"],
    ["1, 2, 3", "3, 1, \\text{and } 2"],
    ["x = 1 \\text{ or } x = -2", "-2, 1"],
    ["x = 1, y = 2", "y = 2, x = 1"],
    ["56", "f(2) = 56"],
    ["f(-1) = 56", "f(-1) = 7 \\cdot 8"],
    ["P(A) = \\frac12", "0.5"],
    ["x = 10,000", "10000"],
    ["x \\le 5", "x \\leq 5"],
    ["x \\in [1, 2]", "[1,2]"],
    [".5", "0.5"],
    ["007", "7"],
    ["10^{20}", "100000000000000000000.0"],
  ])("%j equals %j", (left, right) => {
    expect(score(`\\boxed{${left}}`, right)).toBe(1);
    expect(score(`\\boxed{${right}}`, left)).toBe(1);
  });

  it.each([
    ["\\frac{1}{3}", "0.333"],
    ["50\\%", "50"],
    ["12345678901", "12345678902"],
    ["1234567890123456789", "1234567890123456788"],
    ["(1, 2)", "(2, 1)"],
    ["(1, 2)", "[1, 2]"],
    ["1, 2", "1, 2, 2"],
    ["1, 2", "1"],
    ["x", "y"],
    ["x + y", "x - y"],
    ["\\sqrt{x^2}", "x"],
    ["x \\le 5", "x < 5"],
    ["\\sin x", "\\cos x"],
    ["x^2 = 4", "x = 2"],
    ["x = 5", "y = 5"],
    ["x = 1, y = 2", "x = 2, y = 1"],
    ["x = 1, y = 2", "2, 1"],
    ["f(2) = 56", "f(3) = 56"],
    ["f(2) = 56", "g(2) = 56"],
    ["x(x + 1) = 0", "0"],
    ["x(2) = 10", "10"],
    ["y = 5x + 5", "y = 5x - 5"],
    ["y = 5x", "y = -5x"],
    ["2x + 3y = 0", "x - y = 0"],
    ["y^2 = 5x", "y = 5x"],
    ["x + y = 2", "2"],
    ["x <= y", "y"],
    ["x = 10,000", "x = 10, 0"],
    ["8 \\text{ and } 5", "85"],
    ["8 \\text{ cm}", "8, c"],
    ["\\text{yes}", "\\text{no}"],
    ["\\frac{1}{0}", "1"],
    ["", "1"],
    ["\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "\\begin{pmatrix} 1 & 2 \\end{pmatrix}"],
    ["1.5", "15"],
    ["2x", "x^2"],
  ])("%j does not equal %j", (left, right) => {
    expect(score(`\\boxed{${left}}`, right)).toBe(0);
    expect(score(`\\boxed{${right}}`, left)).toBe(0);
  });

  it.each([
    ["Thus \\boxed{3}, no, \\boxed{\\frac{1}{2}}.", 0.5, 1],
    ["\\boxed{\\frac{1}{2}", 0.5, 0],
    ["\\fbox{7}", 7, 1],
    ["\\boxed 7", 7, 1],
    ["Some words.\n#### 1,080", "1080", 1],
    ["The answer is 12.", 12, 1],
    ["**Answer:** 12", 12, 1],
    ["We find that the value is $\\frac{3}{6}$ in the end.", 0.5, 1],
    ["0.5", "\\frac12", 1],
    ["3 and then many other words about 4", 3, 0],
  ])("finds the result in %j", (text, answer, reward) => {
    expect(score(text, answer)).toBe(reward);
  });

  it("reads a solution as reference", () => {
    expect(score("\\boxed{4}", "We add: $2+2=\\boxed{4}$.")).toBe(1);
    expect(score("\\boxed{4}", "2+2=<<2+2=4>>4\n#### 4")).toBe(1);
  });

  it("requires a box, or ignores percent signs, where it should", () => {
    expect(score("4", 4, { requireBoxed: true })).toBe(0);
    expect(score("\\boxed{4}", 4, { requireBoxed: true })).toBe(1);
    expect(score("\\boxed{50\\%}", 50, { percent: "ignore" })).toBe(1);
  });
});
