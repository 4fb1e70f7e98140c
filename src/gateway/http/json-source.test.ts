import { describe, expect, it } from "vitest";
import { parseExact, writeExact } from "../../util/exact-json.ts";
import { createRandom } from "../../util/random.ts";
import { RawJson } from "../../util/raw-json.ts";
import { checkStructure } from "./json-fields.ts";
import { asWritten, exactly, jsonText, keepTexts, lostText, readSources } from "./json-source.ts";

const random = createRandom(7);
const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
const numbers = [
  ...["0", "7", "-3", "1.5", "0.05", "123456789012345", "1e-7", "1e+21", "-0.5", "5e-324"],
  ...["1.0", "-0", "1e-07", "1E3", "1.50", "9007199254740993", "0.1234567890123456789", "1e400"],
];
const keys = ["a", "b", "10", "2", "1x", "é", 'q\\"1', "-1", "", "__proto__"];
const strings = ['"1.0"', '"{\\"2\\":1.0}"', '"\\\\"', '"a,b:1.0}"', '"\\u0031"', '""'];
const space = (): string => pick(["", "", " ", "\n\t"]);

function value(depth: number): string {
  const kind = depth > 3 ? random() * 0.6 : random();
  if (kind < 0.4) return pick(numbers);
  if (kind < 0.6) return pick([...strings, "true", "null"]);
  const items = Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1));
  if (kind < 0.8) return `[${space()}${items.join(`${space()},`)}${space()}]`;
  const fields = items.map((item) => `"${pick(keys)}"${space()}:${space()}${item}`);
  return `{${fields.join(`,${space()}`)}${space()}}`;
}

describe("what JavaScript's values lose", () => {
  it("is found in each field, in JSON of any form", () => {
    let found = 0;
    for (let i = 0; i < 2_000; i++) {
      const fields = Array.from({ length: 3 }, (_, n) => [`f${n}`, value(1)] as const);
      const text = `{${fields.map(([name, own]) => `"${name}":${space()}${own}`).join(",")}}`;
      const lost = checkStructure(text);
      for (const [name, own] of fields) {
        const isObject = /^[[{]/u.test(own);
        const isLost = isObject && writeExact(parseExact(own)) !== JSON.stringify(JSON.parse(own));
        if (isLost) expect([text, lost.get(name)?.trim()]).toEqual([text, own]);
        if (isLost) found++;
        // Nothing is looked at more closely where no number or key asks for it.
        if (!/\d\.\d*0|\dE|e-0|-0|\d{16}|e4|"(?:10|2|1x)"/u.test(own))
          expect(lost.has(name)).toBe(false);
      }
    }
    expect(found).toBeGreaterThan(500);
  });

  it("is given back by its text, and everything else as it is", () => {
    const text = '{"a":{"x":[{"m": 1.0}],"y":{"n":1}},"b":{"10":1,"2":{"k":2.0}}}';
    const body = JSON.parse(text) as { a: { x: object[]; y: object }; b: Record<string, object> };
    keepTexts(body, checkStructure(text));
    expect(jsonText(body.a)).toBe('{"x":[{"m":1}],"y":{"n":1}}');
    readSources(body, "a");
    expect(jsonText(body.a)).toBe('{"x":[{"m":1.0}],"y":{"n":1}}');
    expect(lostText(body.a.x[0]!)).toBe('{"m":1.0}');
    expect(lostText(body.a.y)).toBeUndefined();
    expect(asWritten(body.a.y)).toBe(body.a.y);
    expect(asWritten(1)).toBe(1);
    // Another field was not asked for.
    expect(lostText(body.b)).toBeUndefined();
    expect(exactly({ z: [body.a, "t"], n: null })).toEqual({
      z: [new RawJson('{"x":[{"m":1.0}],"y":{"n":1}}'), "t"],
      n: null,
    });
  });

  it("takes time in proportion to the text, whatever that is", () => {
    const hostile = [
      `[${"1.0,".repeat(300_000)}1]`,
      `{"${"k".repeat(500_000)}":1${",".repeat(300_000)}`,
      `{"a":[${"-".repeat(500_000)}]}`,
      `{"a":[${"1".repeat(500_000)}]}`,
      "1".repeat(1_000_000),
    ];
    for (const text of hostile) {
      const start = performance.now();
      checkStructure(text);
      expect(performance.now() - start).toBeLessThan(1_500);
    }
  });
});
