/** Every construct of Jinja against what Python writes for it; recorded by `scripts/fixtures/make_jinja.py`. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseExact } from "../../src/util/exact-json.ts";
import { TemplateError } from "../../src/models/renderers/jinja/language/errors.ts";
import { compileTemplate } from "../../src/models/renderers/jinja/language/execute.ts";
import { globalsFor } from "../../src/models/renderers/jinja/language/globals.ts";
import { limitsFor } from "../../src/models/renderers/jinja/language/limits.ts";
import type { Str } from "../../src/models/renderers/jinja/language/str.ts";
import type { Dict, Value } from "../../src/models/renderers/jinja/language/values.ts";
import { toValue } from "../../src/models/renderers/jinja/template-values.ts";

type Case = readonly [
  template: string,
  found: { readonly text?: string; readonly error?: string; readonly message?: string },
];
const { context, cases } = JSON.parse(
  readFileSync(new URL("../fixtures/templates/jinja.json", import.meta.url), "utf8"),
) as { readonly context: string; readonly cases: readonly Case[] };

const variables = Array.from(
  (toValue(parseExact(context)) as Dict).entries(),
  ([name, value]): [string, Value] => [(name as Str).text, value],
);

function outcome(template: string): Case[1] {
  try {
    const compiled = compileTemplate(template, globalsFor("26 Jul 2024"));
    return { text: compiled.render(variables, limitsFor(0, 1)).text };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { error: error.kind, message: error.message };
  }
}

/** Python's names for errors that are one here. */
const sameErrors: Readonly<Record<string, string>> = {
  TemplateAssertionError: "TemplateError",
  TemplateRuntimeError: "TemplateError",
  FilterArgumentError: "TypeError",
  AttributeError: "TypeError",
};
/** Errors whose text says what the author of a template wrote or missed. */
const isShown = new Set(["UndefinedError", "TemplateError", "SecurityError"]);

describe("a template writes what Python's Jinja writes", () => {
  it.each(cases)("%j", (template, expected) => {
    const found = outcome(template);
    expect(found.text).toBe(expected.text);
    if (expected.error === undefined) return;
    const error = sameErrors[expected.error] ?? expected.error;
    expect(found.error).toBe(error);
    if (isShown.has(error)) expect(found.message).toBe(expected.message);
  });
});
