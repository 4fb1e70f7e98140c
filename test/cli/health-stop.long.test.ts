/** A run that is ended by `health.stop`, as a user sees it: exit status, message, and how it goes on. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { coinProject, start } from "./coin-project.ts";

const evaluator = `import { existsSync } from "node:fs";
export const evaluator = (task, episode) =>
  existsSync(new URL("mended", import.meta.url)) ? episode.output === "yes" : 0;
`;

it("ends with status 1 and says what to do, and is resumed once that is done", async () => {
  const folder = coinProject({ "score.mjs": evaluator });
  const args = [
    "train",
    join(folder, "run.yaml"),
    "evaluator=score.mjs",
    "health.stop=[no_reward_variance]",
    "trainer.total_batches=12",
    "algorithm.filter_uniform_groups=false",
  ];
  const stopped = await start(args);
  expect(stopped.code).toBe(1);
  expect(stopped.err).toMatch(
    /error: health\.stop ends the run after step \d+: no reward variance: .*reward\/std/u,
  );
  expect(stopped.err).toContain("take no_reward_variance out of health.stop");
  expect(stopped.err).toContain("docs/health.md#no-reward-variance");
  expect(stopped.err).not.toContain("\n    at ");
  const step = Number(/ends the run after step (\d+)/u.exec(stopped.err)?.[1]);
  expect(step).toBeLessThan(12);
  const saved = readdirSync(join(folder, "runs", "coin", "checkpoints"));
  expect(saved).toEqual([String(step).padStart(6, "0")]);
  const shown = await start(["runs", "list", join(folder, "runs"), "--json"]);
  expect(JSON.parse(shown.out)).toMatchObject([{ status: "failed", steps: step }]);

  writeFileSync(join(folder, "mended"), "");
  const resumed = await start([...args, "--resume", "health.stop=[]"]);
  expect([resumed.code, resumed.err.includes("ends the run")]).toEqual([0, false]);
  const last = await start(["runs", "list", join(folder, "runs"), "--json"]);
  expect(JSON.parse(last.out)).toMatchObject([{ status: "completed", steps: 12 }]);
});
