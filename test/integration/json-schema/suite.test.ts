/**
 * Checks of values under schemas, judged by the cases of JSON-Schema-Test-Suite (draft 2020-12), which the source
 * package of Python's `jsonschema` brings along.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/core/message.ts";
import { patternTest } from "../../../src/grammar/check/pattern-test.ts";
import { SchemaCheck } from "../../../src/grammar/check/schema-check.ts";
import { root } from "../root.ts";
import { runCommand } from "../run-command.ts";

interface Group {
  readonly description: string;
  readonly schema: JsonValue;
  readonly tests: readonly {
    readonly description: string;
    readonly data: JsonValue;
    readonly valid: boolean;
  }[];
}

const release = "jsonschema-4.23.0";
const folder = join(root, ".cache", "integration", "json-schema");
const suite = join(folder, release, "json/tests/draft2020-12");
if (!existsSync(suite)) {
  mkdirSync(folder, { recursive: true });
  const python = process.env["PYTHON"] ?? "python3";
  const source = ["--no-deps", "--no-binary", ":all:", release.replace("-", "==")];
  runCommand(python, ["-m", "pip", "download", "--quiet", ...source], { cwd: folder });
  runCommand(python, ["-m", "tarfile", "-e", `${release}.tar.gz`], { cwd: folder });
}

/** Other documents and dialects, annotations, and formats that are not supported. */
const others =
  /^(?:refRemote|dynamicRef|anchor|vocabulary|content|default|format|optional\/(?!format\/|bignum|non-bmp|float|ecmascript|dependencies)|optional\/format\/(?:idn|iri|regex|unknown|uri-))/u;
const files = readdirSync(suite, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".json") && !others.test(file.replace(/\.json$/u, "")))
  .toSorted();

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
  it.each(files)("%s", (file) => {
    const groups = JSON.parse(readFileSync(join(suite, file), "utf8")) as readonly Group[];
    for (const { description, schema, tests } of groups) {
      let check: SchemaCheck;
      try {
        check = new SchemaCheck(schema, { steps: 300_000, pattern: patternTest });
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
        expect([file, description, name, check.problem(data) === null]).toEqual([
          file,
          description,
          name,
          valid,
        ]);
      }
    }
  });

  it("are most of them", () => {
    expect({ checked, refused }).toEqual({ checked: 1426, refused: 53 });
  });
});
