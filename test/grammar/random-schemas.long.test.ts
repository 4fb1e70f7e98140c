/** Fuzzing: any schema compiles or is refused, and texts that are sampled under it are valid by the other reading. */
import { expect, it } from "vitest";
import { supportedPatternTest } from "../../src/grammar/check/pattern-test.ts";
import { SchemaCheck } from "../../src/grammar/check/schema-check.ts";
import { schemaOutcome } from "../../src/grammar/thread/compiled-schemas.ts";
import { TokenGrammar } from "../../src/grammar/token-masks.ts";
import { GrammarLimitError } from "../../src/grammar/work-budget.ts";
import { byteVocabulary, walk } from "./byte-vocabulary.ts";
import { randomSchema } from "./random-schema.ts";

const count = process.env["SOAK"] === "1" ? 10_000 : 150;
const vocabulary = byteVocabulary(['{"', '":', '", "', "true", "null", "12", "]}", "ab"]);

it(`${count} random schemas`, async () => {
  const found = { refused: 0, valid: 0, open: 0 };
  for (let seed = 0; seed < count; seed++) {
    const schema = randomSchema(seed);
    const outcome = await schemaOutcome(schema, "");
    if ("problem" in outcome) {
      expect(outcome.problem).not.toBe("");
      found.refused++;
      continue;
    }
    const { compiled } = outcome;
    try {
      const grammar = new TokenGrammar(
        { type: "json", schema },
        vocabulary,
        undefined,
        () => compiled,
      );
      if (grammar.start.distance > 60) {
        found.open++;
        continue;
      }
      const { text, ended } = walk(grammar, seed, 80);
      if (!ended || compiled.unenforced.length > 0) found.open++;
      else {
        const check = new SchemaCheck(schema, { steps: 5_000_000, pattern: supportedPatternTest });
        expect([seed, text, check.problem(JSON.parse(text))]).toEqual([seed, text, null]);
        found.valid++;
      }
    } catch (error) {
      if (!(error instanceof GrammarLimitError)) throw error;
      found.refused++;
    }
  }
  expect(found.valid).toBeGreaterThan(count / 5);
  expect(found.refused).toBeLessThan(count / 2);
}, 3_600_000);
