/** Whatever the grammar of a family's calls allows is read back as calls. */
import { describe, expect, it } from "vitest";
import { isAllowed, TokenGrammar, TokenMatcher } from "../../src/grammar/token-masks.ts";
import { readVocabulary } from "../../src/models/tokenizers/vocabulary-bytes.ts";
import { createRandom } from "../../src/util/random.ts";
import { familyTemplates, loadFamily, tokenizerFile } from "./family-templates.ts";

const tools = ["now", "get_weather"].map((name) => ({
  name,
  parameters: {
    type: "object",
    properties: { n: { enum: [1, 2] } },
    required: ["n"],
    additionalProperties: false,
  },
}));
const families = Object.entries(familyTemplates)
  .filter(([, [family]]) => family !== "jinja")
  .map(([name]) => name);

describe.each(families)("%s", (name) => {
  const { renderer } = loadFamily(name);
  const form = { tools, strict: ["now", "get_weather"], minCalls: 1, maxCalls: 2 } as const;
  const vocabulary = readVocabulary(tokenizerFile(name), 160_020)!;
  const grammar = new TokenGrammar(renderer.grammar!(form)!, vocabulary);

  it.each([1, 2, 3, 4])("reads the calls of sample %i", (seed) => {
    const { tokenIds } = renderer.stop;
    const matcher = new TokenMatcher(grammar, { stopTokenIds: tokenIds, maxTokens: 200 });
    const random = createRandom(seed);
    const ids: number[] = [];
    while (!tokenIds.includes(ids.at(-1) ?? -1) && ids.length < 200) {
      const mask = matcher.mask()!;
      const allowed: number[] = [];
      for (let id = 0; id < vocabulary.size; id++) if (isAllowed(mask, id)) allowed.push(id);
      const id = allowed[Math.floor(random() * allowed.length)]!;
      ids.push(id);
      if (!tokenIds.includes(id)) matcher.accept(id);
    }
    const { toolCalls, content, malformed } = renderer.parse(Int32Array.from(ids));
    expect({ content, malformed }).toEqual({ content: "", malformed: undefined });
    expect([1, 2]).toContain(toolCalls.length);
    for (const call of toolCalls) {
      expect(tools.map((tool) => tool.name)).toContain(call.name);
      expect(JSON.parse(call.arguments)).toEqual({ n: expect.toBeOneOf([1, 2]) as unknown });
    }
  });
});
