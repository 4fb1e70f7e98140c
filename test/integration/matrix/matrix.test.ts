/** The whole matrix: every framework of examples/frameworks/ with its newest version, as `npm run matrix` runs it. */
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { frameworks, type Row } from "../../../scripts/matrix/rows.ts";
import { root } from "../root.ts";

it("every call of every framework is captured in its own rollout", { timeout: 3_600_000 }, () => {
  const { stdout } = spawnSync(
    process.execPath,
    [
      ...["--import", "tsx", "--conditions=agent-trainer-source", "scripts/matrix/main.ts"],
      ...["--json", "--quick", "--no-table"],
    ],
    { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 2 ** 26 },
  );
  const { rows } = JSON.parse(stdout.trim().split("\n").at(-1)!) as { readonly rows: Row[] };
  expect(rows.map(({ framework }) => framework)).toEqual(frameworks.map(({ name }) => name));
  for (const { framework, calls, captured, misattributed, note } of rows) {
    // Those whose calls another process makes are not counted below the framework.
    if (framework === "claude-agent-sdk") continue;
    expect({ framework, note, captured, misattributed }).toEqual({
      framework,
      note: undefined,
      captured: calls,
      misattributed: 0,
    });
    expect(calls).toBeGreaterThanOrEqual(1000);
  }
});
