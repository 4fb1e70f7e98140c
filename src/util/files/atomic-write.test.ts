import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { writeFileAtomic, writeFileAtomicSync, writeFolderAtomic } from "./atomic-write.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "atomic-write-"));
});

const failure = new Error("the disk is full");

describe("a file", () => {
  test("is replaced, and nothing else is left", async () => {
    const file = join(folder, "sub", "a.txt");
    await writeFileAtomic(file, "old");
    await writeFileAtomic(file, (handle) => handle.writeFile("new"));
    expect(readFileSync(file, "utf8")).toBe("new");
    writeFileAtomicSync(file, Buffer.from("newest"));
    expect(readFileSync(file, "utf8")).toBe("newest");
    expect(readdirSync(join(folder, "sub"))).toEqual(["a.txt"]);
  });

  test("has its old content while a new one is written, and after that fails", async () => {
    const file = join(folder, "a.txt");
    writeFileSync(file, "old");
    const written = writeFileAtomic(file, async (handle) => {
      await handle.writeFile("new");
      expect(readFileSync(file, "utf8")).toBe("old");
      throw failure;
    });
    await expect(written).rejects.toBe(failure);
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readdirSync(folder)).toEqual(["a.txt"]);
  });
});

describe("a folder", () => {
  const fill =
    (name: string) =>
    async (into: string): Promise<void> => {
      mkdirSync(join(into, "deep"));
      await writeFile(join(into, "deep", name), name);
    };
  const found = (): string[] => readdirSync(join(folder, "to"), { recursive: true }).map(String);

  test("is replaced as a whole", async () => {
    const path = join(folder, "to", "a");
    await writeFolderAtomic(path, fill("old"));
    await writeFolderAtomic(path, fill("new"));
    expect(found().toSorted()).toEqual(["a", join("a", "deep"), join("a", "deep", "new")]);
  });

  test("stays as it was when writing fails", async () => {
    const path = join(folder, "to", "a");
    await writeFolderAtomic(path, fill("old"));
    const written = writeFolderAtomic(path, async (into) => {
      await fill("new")(into);
      expect(found()).toContain(join("a", "deep", "old"));
      throw failure;
    });
    await expect(written).rejects.toBe(failure);
    expect(found().toSorted()).toEqual(["a", join("a", "deep"), join("a", "deep", "old")]);
  });

  test("has nothing of what an earlier attempt left", async () => {
    const temporary = join(folder, "temporary");
    mkdirSync(temporary);
    writeFileSync(join(temporary, "stale"), "");
    await writeFolderAtomic(join(folder, "to", "a"), fill("new"), temporary);
    expect(found()).not.toContain(join("a", "stale"));
    expect(readdirSync(folder)).toEqual(["to"]);
  });
});
