import { mkdirSync, readdirSync, readFileSync, writeFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileError, namingFile } from "./file-error.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-files-"));
const file = join(folder, "a-file");
writeFileSync(file, "");

/** What the system itself throws. */
function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("fileError", () => {
  it.each([
    [
      "a file for a folder",
      () => mkdirSync(join(file, "b"), { recursive: true }),
      "ENOTDIR",
      `make the folder ${join(file, "b")}`,
    ],
    ["something there already", () => mkdirSync(file), "EEXIST", `make the folder ${file}`],
    ["a folder for a file", () => writeFileSync(folder, ""), "EISDIR", `open ${folder}`],
    ["nothing there", () => readdirSync(join(folder, "none")), "ENOENT", "list the folder"],
  ])("says it of %s", (_name, work, code, what) => {
    const error = fileError(thrown(work));
    expect(error?.code).toBe("FILE_FAILED");
    expect(error?.message).toContain(`Cannot ${what}`);
    expect(error?.message).toMatch(new RegExp(String.raw`: .+ \(${code}\)\.$`));
    expect(error?.hint).toMatch(/\.$/);
  });

  it.runIf(process.platform === "linux")("says that the disk is full, and of which file", () => {
    expect(() => namingFile({ path: "/dev/full" }, () => writeFileSync("/dev/full", "x"))).toThrow(
      "Cannot write /dev/full: the disk is full (ENOSPC).",
    );
  });

  it("adds the path where who told it first did not know it", () => {
    const full = Object.assign(new Error("x"), { code: "ENOSPC", syscall: "write" });
    const first = fileError(full);
    expect(first?.message).toBe("Cannot write a file: the disk is full (ENOSPC).");
    const second = fileError(first, { path: "/a/b" });
    expect(second?.message).toBe("Cannot write /a/b: the disk is full (ENOSPC).");
    expect(fileError(second, { path: "/c" })).toBeNull();
  });

  it("leaves other errors alone", () => {
    expect(fileError(new Error("x"))).toBeNull();
    expect(
      fileError(Object.assign(new Error("x"), { code: "EACCES", syscall: "listen" })),
    ).toBeNull();
    expect(fileError(thrown(() => readFileSync(join(folder, "\0"))))).toBeNull();
    expect(fileError(undefined)).toBeNull();
  });
});
