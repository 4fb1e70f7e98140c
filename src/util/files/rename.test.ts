import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rename, renameSync, whileBusy, whileBusySync } from "./rename.ts";

const refusal = (code: string): Error => Object.assign(new Error(code), { code });

/** Refuses this many times, as Windows does while a reader has the file open. */
function refusing(times: number, code: string): { tries: number; action: () => string } {
  const state = {
    tries: 0,
    action: () => {
      if (state.tries++ < times) throw refusal(code);
      return "renamed";
    },
  };
  return state;
}

test.each(["EPERM", "EACCES", "EBUSY"])(
  "waits on Windows where a file is in use (%s)",
  async (code) => {
    const [one, other] = [refusing(3, code), refusing(3, code)];
    expect(whileBusySync(one.action, "win32")).toBe("renamed");
    await expect(whileBusy(async () => other.action(), "win32")).resolves.toBe("renamed");
    expect([one.tries, other.tries]).toEqual([4, 4]);
  },
);

test.each([
  ["EPERM", "linux"],
  ["EACCES", "darwin"],
  ["ENOENT", "win32"],
] as const)("fails at once with %s on %s", async (code, platform) => {
  const [one, other] = [refusing(9, code), refusing(9, code)];
  expect(() => whileBusySync(one.action, platform)).toThrow(code);
  await expect(whileBusy(async () => other.action(), platform)).rejects.toThrow(code);
  expect([one.tries, other.tries]).toEqual([1, 1]);
});

test("renames over another file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rename-"));
  const [a, b] = [join(folder, "a"), join(folder, "b")];
  writeFileSync(a, "a");
  writeFileSync(b, "b");
  await rename(a, b);
  expect(readFileSync(b, "utf8")).toBe("a");
  renameSync(b, a);
  expect(readFileSync(a, "utf8")).toBe("a");
});
