import { expect, test } from "vitest";
import {
  exactOf,
  isSameJson,
  JsonNumber,
  parseExact,
  plainOf,
  pythonFloat,
  pythonJson,
  writeExact,
} from "./exact-json.ts";

const dumped = (text: string): string => writeExact(parseExact(text), pythonJson);

test("digits and the order of keys stay", () => {
  const text = '{"10":1.0,"2":12345678901234567890,"a":[1e-07,-0.0,{"":null}],"b":"\\u00e9"}';
  expect(writeExact(parseExact(text))).toBe(text.replace("\\u00e9", "é"));
});

test("numbers are written as Python's json.dumps writes them", () => {
  // Recorded from Python 3.11: json.dumps(json.loads(text)).
  const recorded: readonly (readonly [string, string])[] = [
    ["1.0", "1.0"],
    ["0.10", "0.1"],
    ["1e-7", "1e-07"],
    ["1E5", "100000.0"],
    ["1e16", "1e+16"],
    ["1e15", "1000000000000000.0"],
    ["123456789012345678", "123456789012345678"],
    ["1e-4", "0.0001"],
    ["1e-5", "1e-05"],
    ["-0", "0"],
    ["-0.0", "-0.0"],
    ["1e22", "1e+22"],
    ["1.5e300", "1.5e+300"],
    ["1e400", "Infinity"],
    ["12345678901234567890.0", "1.2345678901234567e+19"],
    ["0.00012", "0.00012"],
    ["9007199254740993", "9007199254740993"],
    ["5e-324", "5e-324"],
    ["100.25", "100.25"],
  ];
  for (const [text, wanted] of recorded) expect(dumped(text)).toBe(wanted);
  expect(dumped('[1,{"a" :2}]')).toBe('[1, {"a": 2}]');
  expect(pythonFloat(Number.NaN)).toBe("NaN");
});

test("a key that stands twice has its last value at its first place", () => {
  expect(writeExact(parseExact('{"a":1,"b":2,"a":3}'))).toBe('{"a":3,"b":2}');
});

test("__proto__ is a key like others", () => {
  expect(writeExact(parseExact('{"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1}}');
});

test("equality ignores order and notation, but no digit", () => {
  const same = (a: string, b: string): boolean => isSameJson(parseExact(a), parseExact(b));
  expect(same('{"a":1,"b":[1.50]}', '{"b":[15e-1],"a":1.0}')).toBe(true);
  expect(same("9007199254740993", "9007199254740992")).toBe(false);
  expect(same("1e400", "1e401")).toBe(false);
  expect(same("0", "-0.0")).toBe(true);
  expect(same("1000", "1e3")).toBe(true);
  expect(same('{"a":null}', "{}")).toBe(false);
  expect(same("[1]", '{"0":1}')).toBe(false);
  expect(same('"1"', "1")).toBe(false);
});

test("what is not JSON, and what is nested too deeply, is an error", () => {
  expect(() => parseExact("{a:1}")).toThrow(SyntaxError);
  expect(() => parseExact("")).toThrow(SyntaxError);
  expect(() => parseExact("[".repeat(600) + "]".repeat(600))).toThrow(/512 levels/u);
});

test("values of code and back", () => {
  expect(plainOf(exactOf({ b: 1.5, a: [undefined, "x"] }))).toEqual({ b: 1.5, a: [null, "x"] });
  expect(exactOf(3)).toEqual(new JsonNumber("3"));
});
