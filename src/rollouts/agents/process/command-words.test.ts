import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, win32 } from "node:path";
import { expect, test } from "vitest";
import { commandWords } from "./command-words.ts";

const folder = mkdtempSync(join(tmpdir(), "command-words-"));
writeFileSync(join(folder, "agent.py"), "");

test.skipIf(process.platform === "win32")(
  "splits words, and gives what needs a shell to one",
  () => {
    expect(commandWords("python agent.py 'a b'", folder, posix)).toEqual([
      "python",
      join(folder, "agent.py"),
      "a b",
    ]);
    for (const command of ["a | b", "a $HOME", String.raw`a \n`])
      expect(commandWords(command, folder, posix)).toEqual(["sh", "-c", command]);
  },
);

test("takes a backslash for what separates folders on Windows, not for a shell's escape", () => {
  const run = String.raw`.\tools\agent.exe --fast`;
  expect(commandWords(run, String.raw`C:\project`, win32)).toEqual([
    String.raw`.\tools\agent.exe`,
    "--fast",
  ]);
  expect(commandWords(String.raw`C:\py\python.exe -u`, String.raw`C:\project`, win32)).toEqual([
    String.raw`C:\py\python.exe`,
    "-u",
  ]);
  expect(commandWords("a | b", String.raw`C:\project`, win32)).toEqual(["sh", "-c", "a | b"]);
});
