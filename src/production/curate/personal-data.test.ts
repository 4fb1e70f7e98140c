import { describe, expect, it } from "vitest";
import { languageOf } from "./language.ts";
import { PersonalData } from "./personal-data.ts";
import { scrubTurn } from "./scrub.ts";
import type { Turn } from "./turns.ts";

describe("personal data", () => {
  // Numbers of cards and accounts are the examples of their standards.
  it.each([
    ["Write to Jane.Doe+x@mail.example.co.uk.", "Write to [email 1]."],
    ["a@b.de, c@d.de, A@B.de", "[email 1], [email 2], [email 1]"],
    ["card 4111 1111 1111 1111 or 4111111111111111", "card [card 1] or [card 1]"],
    ["order 4111111111111112", "order 4111111111111112"],
    ["IBAN DE89 3704 0044 0532 0130 00", "IBAN [iban 1]"],
    ["IBAN DE89 3704 0044 0532 0130 01", "IBAN DE89 3704 0044 0532 0130 01"],
    ["from 192.168.0.17 and 300.1.1.1", "from [ip 1] and 300.1.1.1"],
    [
      "call +49 30 1234567, (030) 1234567 or 555-123-4567",
      "call [phone 1], [phone 2] or [phone 3]",
    ],
    ["2026-11-24 at 10:30, 1,234.56 EUR, v1.2.3", "2026-11-24 at 10:30, 1,234.56 EUR, v1.2.3"],
  ])("%s", (text, expected) => {
    expect(new PersonalData().replace(text)).toBe(expected);
  });

  it("takes linear time", () => {
    const replace = (text: string): string => new PersonalData().replace(text);
    for (const piece of ["1", "a", "a@", "+1 ", "1.", "(1", "A1", "AB12 "])
      expect(replace(piece.repeat(100_000)).length).toBeGreaterThan(0);
  });
});

const turn: Turn = {
  traceId: "t",
  model: "m",
  prompt: [{ role: "user", content: "I am a@b.de" }],
  completion: [
    {
      role: "assistant",
      content: "",
      toolCalls: [
        { id: "c", name: "pay", arguments: '{"card":4111111111111111,"to":"a@b.de","n":3}' },
      ],
    },
    { role: "tool", content: "paid", toolCallId: "c" },
    { role: "assistant", content: "Done, a@b.de." },
  ],
  tools: [],
  at: 0,
  isSubAgent: false,
  isRepeated: false,
  isEndKnown: true,
  flaw: null,
};

describe("a turn", () => {
  it("has one name for one value, and arguments that are JSON", async () => {
    const { turn: clean, correction, found } = (await scrubTurn(turn, "Dear a@b.de", null))!;
    expect(clean.prompt[0]!.content).toBe("I am [email 1]");
    expect(JSON.parse(clean.completion[0]!.toolCalls![0]!.arguments)).toEqual({
      card: "[card 1]",
      to: "[email 1]",
      n: 3,
    });
    expect([clean.completion[2]!.content, correction]).toEqual([
      "Done, [email 1].",
      "Dear [email 1]",
    ]);
    expect(Object.fromEntries(found)).toEqual({ email: 1, card: 1 });
  });

  it("is changed or dropped by a hook, which sees what the rules left", async () => {
    const seen: string[] = [];
    const changed = await scrubTurn(turn, null, async (text) => {
      seen.push(text);
      return text.replace("paid", "X");
    });
    expect(changed!.turn.completion[1]!.content).toBe("X");
    expect(seen.join(" ")).not.toContain("a@b.de");
    expect(await scrubTurn(turn, null, () => null)).toBeNull();
  });
});

it.each([
  ["How do I return the shoes that I bought?", "en"],
  ["Wie kann ich die Schuhe zurückgeben?", "de"],
  ["Comment puis-je rendre les chaussures que je vous ai achetées ?", "fr"],
  ["¿Cómo puedo devolver los zapatos?", "es"],
  ["靴を返品したいです", "ja"],
  ["我想退鞋", "zh"],
  ["Как вернуть обувь?", "ru"],
  ["42", "other"],
])("%s is %s", (text, language) => expect(languageOf(text)).toBe(language));
