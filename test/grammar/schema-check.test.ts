/** Checks of values under schemas, judged by the cases of JSON-Schema-Test-Suite for the keywords it has. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/core/message.ts";
import { patternTest } from "../../src/grammar/check/pattern-test.ts";
import { SchemaCheck } from "../../src/grammar/check/schema-check.ts";

interface Group {
  readonly file: string;
  readonly description: string;
  readonly schema: JsonValue;
  readonly tests: readonly {
    readonly description: string;
    readonly data: JsonValue;
    readonly valid: boolean;
  }[];
}

// Draft 2020-12 at 44401e0c, a group per line; no registry has a package of it.
const suite = new URL("./json-schema-test-suite/draft2020-12.jsonl", import.meta.url);
const groups = readFileSync(suite, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Group);

const create = (schema: JsonValue): SchemaCheck =>
  new SchemaCheck(schema, { steps: 300_000, pattern: patternTest });

/** Everything else that is refused would be a keyword that works, refused by mistake. */
const refusals = [
  "does not point into the schema itself",
  "$id inside of a schema is not supported",
  "$dynamicRef is not supported",
  "points at nothing",
  "in patterns is not supported",
];

describe("the suite's cases", () => {
  let checked = 0;
  let refused = 0;
  it.each([...new Set(groups.map(({ file }) => file))])("%s", (file) => {
    for (const { description, schema, tests } of groups.filter((one) => one.file === file)) {
      let check: SchemaCheck;
      try {
        check = create(schema);
      } catch (error) {
        const { message } = error as Error;
        expect([description, message, refusals.some((one) => message.includes(one))]).toEqual([
          description,
          message,
          true,
        ]);
        refused += tests.length;
        continue;
      }
      for (const { description: name, data, valid } of tests) {
        // Names in Punycode are not decoded.
        if (file.endsWith("/hostname.json") && /xn--/i.test(JSON.stringify(data))) continue;
        checked++;
        expect([description, name, check.problem(data) === null]).toEqual([
          description,
          name,
          valid,
        ]);
      }
    }
  });

  it("are most of them", () => {
    expect({ checked, refused }).toEqual({ checked: 1614, refused: 59 });
  });
});
