import { describe, expect, it } from "vitest";
import { cases } from "../../../test/renderers/conversations.ts";
import { loadReal } from "../../../test/renderers/real-tokenizers.ts";
import { smollm2Template } from "../../../test/renderers/templates.ts";
import { defined } from "../../util/defined.ts";
import { chooseRenderer } from "./choose-renderer.ts";
import { createJinjaRenderer } from "./jinja/jinja.ts";
import { templateWithTools } from "./tool-template.ts";

const { json, config, tokenizer: text } = loadReal("qwen2_5");
const tokenizer = json as Readonly<Record<string, unknown>>;
const smollm2 = { ...config, chat_template: smollm2Template };
const made = templateWithTools({ tokenizer, config: smollm2 }, "test");

describe("templateWithTools", () => {
  const trained = chooseRenderer(text, smollm2);
  const exported = createJinjaRenderer(text, { template: made! });

  it.each(cases.map((one) => [one.name, one] as const))(
    "writes what training writes: %s",
    (_, { messages, tools }) => {
      const options = defined({ tools });
      const ids = trained.render(messages, options).tokens;
      expect(text.decode(exported.render(messages, options).tokens)).toBe(text.decode(ids));
    },
  );

  it("is read again as the family that it was made of", () => {
    const again = chooseRenderer(text, { ...smollm2, chat_template: made });
    expect(again.family).toBe("chatml");
  });

  it("leaves a template that writes tools, and one of another family", () => {
    expect(templateWithTools({ tokenizer, config }, "test")).toBeNull();
    const other = "{% for m in messages %}{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}";
    const plain = { ...config, chat_template: other };
    expect(templateWithTools({ tokenizer, config: plain }, "test")).toBeNull();
  });

  it("does not repeat the empty description that llama.cpp adds", () => {
    const [named, empty] = [{}, { description: "" }].map((more) => {
      const tools = [{ name: "f", ...more, parameters: { type: "object" } }];
      return exported.render([{ role: "user", content: "Q" }], { tools }).tokens;
    });
    expect(empty).toEqual(named);
  });
});
