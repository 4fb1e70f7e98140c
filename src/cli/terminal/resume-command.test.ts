import { describe, expect, it } from "vitest";
import { commandLine, nextCommand } from "./resume-command.ts";

const cwd = "/home/me/project";

describe("commandLine", () => {
  it.each([
    [
      "a global or local bin",
      "/x/node_modules/.bin/agent-trainer",
      {},
      "agent-trainer train a.yaml",
    ],
    ["npx", "/x/.bin/agent-trainer", { npm_command: "exec" }, "npx agent-trainer train a.yaml"],
    ["a clone", "/home/me/project/dist/cli/main.js", {}, "node dist/cli/main.js train a.yaml"],
  ])("repeats how it was started: %s", (_, script, env, expected) => {
    expect(commandLine(["train", "a.yaml"], { argv: ["node", script], env, cwd })).toBe(expected);
  });

  it("repeats an npm script with its arguments behind the dashes", () => {
    const start = {
      argv: ["node", "/c/dist/cli/main.js"],
      env: { npm_lifecycle_event: "demo" },
      cwd,
    };
    expect(commandLine(["demo", "--seed", "2"], start)).toBe("npm run demo -- --seed 2");
  });

  it("quotes what a shell would split", () => {
    const start = { argv: ["node", "/b/agent-trainer"], env: {}, cwd };
    expect(commandLine(["train", "my file.yaml", "it's"], start)).toBe(
      "agent-trainer train 'my file.yaml' 'it'\\''s'",
    );
  });
});

describe("nextCommand", () => {
  it("offers a new run where the backend cannot resume one", () => {
    const stopped = { runDir: "runs/a", checkpoint: "runs/a/checkpoints/000002" };
    expect(nextCommand(stopped, ["train", "a.yaml"], true, false)).toMatch(
      /^This backend cannot resume a run\. To start a new one: .*train a\.yaml$/u,
    );
  });
  const after = (checkpoint: string | null, isNamed: boolean): string =>
    nextCommand({ runDir: "runs/a", checkpoint }, ["train", "a.yaml", "rollout.n=2"], isNamed);

  it("resumes where there is a checkpoint", () => {
    expect(after("runs/a/checkpoints/000003", true)).toMatch(
      /^To resume: .*train a\.yaml rollout\.n=2 --resume runs\/a$/u,
    );
  });
  it("starts again where there is none, without advice that would be refused", () => {
    expect(after(null, false)).toMatch(
      /^Nothing was saved, .* To start again: .*train a\.yaml rollout\.n=2$/u,
    );
    expect(after(null, true)).toMatch(/ To start again: .*train a\.yaml rollout\.n=2 --resume$/u);
  });
});
