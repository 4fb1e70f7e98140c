import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { gzipBlock, gzipBlocks, gzipBlockSync, readGzipBlock } from "./gzip-blocks.ts";

const texts = ["first\n", "x".repeat(300_000), "", "last\n"];

function contents(bytes: Uint8Array): (string | null)[] {
  const path = join(mkdtempSync(join(tmpdir(), "gzip-blocks-")), "file.gz");
  writeFileSync(path, bytes);
  const handle = openSync(path, "r");
  try {
    return Array.from(gzipBlocks(handle), ({ at, content }) => {
      expect(readGzipBlock(handle, at)).toEqual(content);
      return content?.toString() ?? null;
    });
  } finally {
    closeSync(handle);
  }
}

it("writes members that gzip and Node read, and that are read one by one", async () => {
  const blocks = await Promise.all(texts.map((text) => gzipBlock(Buffer.from(text))));
  expect(blocks).toEqual(texts.map((text) => gzipBlockSync(Buffer.from(text))));
  const file = Buffer.concat(blocks);
  expect(gunzipSync(file).toString()).toBe(texts.join(""));
  expect(execFileSync("gzip", ["-dc"], { input: file }).toString()).toBe(texts.join(""));
  expect(contents(file)).toEqual(texts);
});

it("leaves out what a kill cut short, wherever it was", () => {
  const [one, two] = ["one", "two"].map((text) => gzipBlockSync(Buffer.from(text))) as [
    Buffer,
    Buffer,
  ];
  for (let kept = 0; kept < two.length; kept++)
    expect(contents(Buffer.concat([one, two.subarray(0, kept)]))).toEqual(["one"]);
});

it("tells a damaged member, and reads on behind it", () => {
  const blocks = ["one", "two", "three"].map((text) => gzipBlockSync(Buffer.from(text)));
  blocks[1]![blocks[1]!.length - 6]! ^= 1;
  expect(contents(Buffer.concat(blocks))).toEqual(["one", null, "three"]);
});

it("reads what another program packed as one member", () => {
  expect(contents(gzipSync("a\nb\n"))).toEqual(["a\nb\n"]);
});
