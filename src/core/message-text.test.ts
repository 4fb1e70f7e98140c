import { expect, it } from "vitest";
import { messageText } from "./message-text.ts";

const url = `https://example.org/${"x".repeat(80)}.png`;
const content = [{ type: "text", text: "See " } as const, { type: "image", url } as const];

it.each([
  ["note", `See [image ${url.slice(0, 60)}]`],
  ["url", `See ${url}`],
  ["drop", "See "],
] as const)("an image as %s", (image, expected) => {
  expect(messageText(content, { image })).toBe(expected);
});

it("notes images unless told otherwise", () => {
  expect(messageText(content)).toBe(messageText(content, { image: "note" }));
});

it("refuses an image for a model that would not see it, and no text", () => {
  expect(() => messageText(content, { image: "refuse" })).toThrow("reads text only");
  expect(messageText("plain", { image: "refuse" })).toBe("plain");
});

it("finds no text in what a damaged file holds", () => {
  expect([messageText(null), messageText(undefined), messageText({} as never)]).toEqual([
    "",
    "",
    "",
  ]);
});
