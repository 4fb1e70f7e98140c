/** Outputs of programs: white space and numbers. */
import { describe, expect, it } from "vitest";
import { isSameOutput, type OutputRules } from "./same-output.ts";

const lines: OutputRules = { whitespace: "lines", tolerance: null };
const words: OutputRules = { whitespace: "words", tolerance: null };
const near: OutputRules = { whitespace: "lines", tolerance: { absolute: 1e-6 } };
const part: OutputRules = { whitespace: "words", tolerance: { relative: 1e-3 } };

describe("isSameOutput", () => {
  it.each<readonly [string, string, OutputRules, boolean]>([
    ["3\n", "3", lines, true],
    ["3 \r\n4\t\n\n", "3\n4", lines, true],
    ["\n3", "3\n", lines, true],
    ["1 2", "1  2", lines, false],
    ["1\n2", "1 2", lines, false],
    ["1\n  2", "1\n2", lines, false],
    ["1\n\n2", "1\n2", lines, false],
    ["3.0", "3", lines, false],
    ["Yes", "YES", lines, false],
    ["", "", lines, true],
    ["", "0", lines, false],
    ["1  2\n\n3", "1 2 3", words, true],
    ["12", "1 2", words, false],
    ["1 2 3 4", "1 2 3", words, false],
    ["3.0", "3", words, false],
    ["0.333333", "0.333333333333", near, true],
    ["0.33333", "0.333333333333", near, false],
    ["x = 0.333333", "x = 0.3333333", near, true],
    ["x  = 0.333333", "x = 0.3333333", near, false],
    ["3.0", "3", near, true],
    ["3", "3.0000001", near, true],
    ["1e-7", "0", near, true],
    ["-.5", "-0.5", near, true],
    ["0.5", "-0.5", near, false],
    ["nan", "0.0", near, false],
    ["inf", "1e308", near, false],
    ["1e999", "1e999", near, true],
    ["1e999", "1e998", near, false],
    ["0x10", "16.0", near, false],
    ["1000000", "1000001", part, false],
    ["1000000.0", "1000001", part, true],
    ["[0.5]", "[0.50]", near, false],
    ["1.0005\n2", "1 2.0", part, true],
    ["1.002 2", "1 2", part, false],
  ])("%j against %j by %j: %s", (found, expected, rules, isSame) => {
    expect(isSameOutput(found, expected, rules)).toBe(isSame);
  });
});
