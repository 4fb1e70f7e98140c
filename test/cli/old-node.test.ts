/** The executable on a Node that is too old for what it imports. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformWithOxc } from "vite";
import { describe, expect, it } from "vitest";
import { root } from "./coin-project.ts";

const main = readFileSync(join(root, "src/cli/main.ts"), "utf8");

/** Runs the entry alone, without the files that it would import, as a Node of this version. */
async function runAs(version: string) {
  const { code } = await transformWithOxc(main.replace(/^#!.*/u, ""), "main.ts");
  const old = `Object.defineProperty(process.versions, "node", { value: "${version}" });\n`;
  return spawnSync(process.execPath, ["--input-type=module"], {
    input: old + code,
    encoding: "utf8",
  });
}

describe("an older Node", () => {
  it.each(["18.20.4", "20.18.3", "16.0.0"])(
    "%s is refused before anything is imported",
    async (version) => {
      const { status, stderr } = await runAs(version);
      expect(stderr).toContain(
        `agent-trainer needs Node 20.19 or later, but this is Node ${version}`,
      );
      expect(status).toBe(1);
    },
  );

  it.each(["20.19.0", "22.3.0"])("%s is not", async (version) => {
    const { stderr } = await runAs(version);
    // The next thing is what it imports, which is not next to a text from stdin.
    expect(stderr).toContain("ERR_MODULE_NOT_FOUND");
  });

  it("is the one that package.json names", () => {
    const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      engines: { node: string };
    };
    expect(engines.node).toBe(">=20.19");
    expect(main).not.toMatch(/^import /mu);
  });
});
