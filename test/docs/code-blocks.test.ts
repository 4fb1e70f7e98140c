import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { codeBlocks, pages, readPage, root } from "./pages.ts";

// Inside of the repository, so that `agent-trainer` means its sources.
const cache = join(root, ".cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "code-blocks-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** What the compiler says of the blocks; errors of the sources are for `npm run types`. */
function compile(): Promise<string[]> {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, "-p", folder], { cwd: folder }, (_error, stdout, stderr) => {
      resolve((stdout + stderr).split("\n").filter((line) => /^[^\s.]/u.test(line)));
    });
  });
}

it("every ts block compiles, unless it is marked as a fragment", async () => {
  let count = 0;
  for (const path of pages) {
    for (const { info, code, line } of codeBlocks(readPage(path))) {
      if (info[0] !== "ts" || info.includes("fragment")) continue;
      // A block with a file name may be imported by the others of its page.
      const name = info.find((word) => word.endsWith(".ts")) ?? `line-${line}.ts`;
      const pageFolder = join(folder, basename(path, ".md"));
      mkdirSync(pageFolder, { recursive: true });
      writeFileSync(join(pageFolder, name), code);
      count++;
    }
  }
  expect(count).toBeGreaterThan(3);
  const compilerOptions = {
    noUnusedLocals: false,
    noUnusedParameters: false,
    moduleDetection: "force",
  };
  const config = { extends: "../../tsconfig.json", compilerOptions, include: ["**/*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  expect(await compile()).toEqual([]);
});

it("the README shows examples/quickstart.ts", () => {
  const shown = codeBlocks(readPage("README.md")).find(({ info }) => info[0] === "ts");
  const file = readFileSync(join(root, "examples/quickstart.ts"), "utf8");
  expect(shown?.code).toBe(file.slice(file.indexOf("\n") + 1));
});
