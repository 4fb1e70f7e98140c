import { createColors } from "picocolors";
import { expect, it } from "vitest";
import { terminalText } from "./safe-io.ts";

it("lets through what the program itself writes", () => {
  const colors = createColors(true);
  const own = `${colors.red("a")}${colors.bold(colors.cyan("b"))}\r\u001B[2Kline\tend\r\n日本 👩\u200D🔬`;
  expect(terminalText(own)).toBe(own);
});

it.each([
  ["\u001B]8;;http://evil\u0007link", "\\u001b]8;;http://evil\\u0007link"],
  ["\u001B[2J\u001B[1;1H", "\\u001b[2J\\u001b[1;1H"],
  ["\u001B[1K", "\\u001b[1K"],
  ["\u001Bc", "\\u001bc"],
  ["done\rfailed", "done\\u000dfailed"],
  ["\u009B31m\u0000\u007F", "\\u009b31m\\u0000\\u007f"],
])("shows %j as text", (text, shown) => {
  expect(terminalText(text)).toBe(shown);
});

it("does not change what JSON means", () => {
  const value = { text: "a\u009Bb\u007F\u001B[31m\n" };
  expect(JSON.parse(terminalText(JSON.stringify(value)))).toEqual(value);
});
