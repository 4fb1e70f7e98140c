/** Models in which the role of the next message ends a turn, as in GLM: what is trained, and what is exported. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadModelRenderer, modelAssets } from "../../src/backends/local/load-model.ts";
import { sharedCases } from "../shared-cases.ts";
import { type Changes, makeModel, previewTexts, readJson } from "./small-models.ts";

const glm = {
  tokens: ["<|endoftext|>", "<|user|>", "<|assistant|>", "<|observation|>", "<|system|>"],
  eosToken: "<|endoftext|>",
  template: `{% for m in messages %}{% if m.role == 'tool' %}<|observation|>
{{ m.content }}{% else %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`,
  generation: { eos_token_id: [507, 508, 510] },
};
const say = (role: string, content: string): object => ({ role, content });
const call = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a": "b"}' } }],
};
const called = '<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>';

describe("a template in which the next role ends a turn", () => {
  it("trains that role, in every turn", async () => {
    const messages = [say("user", "2+2?"), say("assistant", "4")];
    const again = [...messages, say("user", "and 3+3?"), say("assistant", "6")];
    expect(await previewTexts(makeModel(glm), [{ messages }, { messages: again }])).toEqual([
      "<|user|>2+2?<|assistant|>⟦4<|user|>⟧",
      "<|user|>2+2?<|assistant|>⟦4<|user|>⟧and 3+3?<|assistant|>⟦6<|user|>⟧",
    ]);
  });

  it("trains the role of results after a call", async () => {
    const result = { role: "tool", tool_call_id: "c1", content: "r" };
    const messages = [say("user", "q"), call, result, say("assistant", "a")];
    expect(
      await previewTexts(makeModel(glm), [{ messages }, { messages: messages.slice(0, 2) }]),
    ).toEqual([
      `<|user|>q<|assistant|>⟦${called}<|observation|>⟧\nr<|assistant|>⟦a<|user|>⟧`,
      `<|user|>q<|assistant|>⟦${called}<|observation|>⟧`,
    ]);
  });

  it("continues after what was sampled, and from scratch where another role follows", async () => {
    const renderer = await loadModelRenderer(makeModel(glm));
    const prompt = renderer.render([{ role: "user", content: "q" }]).tokens;
    const before = Int32Array.from([...prompt, ...renderer.encode!("a"), 508]);
    const after = renderer.extend(before, [{ role: "user", content: "b" }]);
    expect(renderer.inspect!(after!.tokens)).toBe("<|user|>q<|assistant|>a<|user|>b<|assistant|>");
    expect(renderer.extend(before, [{ role: "system", content: "b" }])).toBeNull();
    expect(renderer.parse(before.subarray(prompt.length))).toMatchObject({ content: "a" });
    expect(renderer.decode(before.subarray(prompt.length))).toBe("a");
    const long = await renderer.long!.extend(
      before,
      [{ role: "user", content: "b" }],
      {},
      new AbortController().signal,
    );
    expect(long).toEqual(after);
    expect(renderer.stop.tokenIds).toEqual([508, 510, 507]);
  });

  it.each([
    ["in config.json", { generation: null, config: { eos_token_id: [507, 508, 510] } }],
    ["with the user's role only", { generation: { eos_token_id: [508, 507] } }],
  ])("is found where the ends are listed %s", async (_, changes) => {
    const messages = [say("user", "2+2?"), say("assistant", "4")];
    expect(await previewTexts(makeModel({ ...glm, ...changes }), [{ messages }])).toEqual([
      "<|user|>2+2?<|assistant|>⟦4<|user|>⟧",
    ]);
  });

  it("is not meant where a model lists other ends than roles", async () => {
    const renderer = await loadModelRenderer(
      makeModel({ ...glm, generation: { eos_token_id: 507 } }),
    );
    expect(renderer.stop.tokenIds).toEqual([507]);
    const chatml = await loadModelRenderer(
      makeModel({ generation: { eos_token_id: [507, 508, 509] } }),
    );
    expect(chatml.stop.tokenIds).toEqual([509, 507]);
  });
});

describe("the files of an exported model", () => {
  const ends = async (changes: Changes): Promise<unknown> => {
    const assets = await modelAssets(makeModel(changes));
    const file = assets.get("generation_config.json");
    if (file === undefined) return null;
    return "text" in file ? JSON.parse(file.text) : readJson(file.copyOf);
  };
  const shared = sharedCases("training/models.json");

  it.skipIf(shared === null)("list the template's end of a turn (shared case)", async (context) => {
    const [found] = JSON.parse(readFileSync(shared!, "utf8")) as [{ kind: string; files: object }];
    if (found.kind !== "end of a turn") context.skip();
    expect(JSON.stringify(found.files)).toContain("turns end with <|im_end|>");
    // Ids for the texts of the case: 507 is <|endoftext|>, 509 <|im_end|>.
    const changes = { eosToken: "<|endoftext|>", generation: { eos_token_id: 507 } };
    expect(await ends({ ...changes, config: { eos_token_id: 507 } })).toEqual({
      eos_token_id: [507, 509],
    });
  });

  it.each([
    ["none but config.json's", null, 507, { eos_token_id: [507, 509] }],
    [
      "a list without it",
      { eos_token_id: [507], top_p: 0.5 },
      507,
      { eos_token_id: [507, 509], top_p: 0.5 },
    ],
    ["another one", { eos_token_id: 511 }, 511, { eos_token_id: [511, 509, 507] }],
    ["nothing", { temperature: 0.7 }, null, { temperature: 0.7, eos_token_id: [509, 507] }],
    ["all of them", { eos_token_id: [509, 507] }, 507, { eos_token_id: [509, 507] }],
    ["all of them in config.json", null, [507, 509], null],
  ])("with %s", async (_, generation, eos, wanted) => {
    const changes = { eosToken: "<|endoftext|>", generation, config: { eos_token_id: eos } };
    expect(await ends(changes)).toEqual(wanted);
  });

  it("list the roles that end a turn", async () => {
    const changes = { ...glm, generation: null, config: { eos_token_id: [508, 510] } };
    expect(await ends(changes)).toEqual({ eos_token_id: [508, 510, 507] });
  });

  it("stay as they are without a template, and where they are damaged", async () => {
    expect(await ends({ template: "", generation: { eos_token_id: 1 } })).toEqual({
      eos_token_id: 1,
    });
    const folder = makeModel({ eosToken: "<|endoftext|>" });
    writeFileSync(join(folder, "generation_config.json"), "{");
    expect((await modelAssets(folder)).get("generation_config.json")).toEqual({
      copyOf: join(folder, "generation_config.json"),
    });
  });
});
