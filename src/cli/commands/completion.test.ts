/** The scripts are run by their shells where those are installed; bash is everywhere that tests run. */
import { execFileSync, spawnSync } from "node:child_process";
import { Command } from "commander";
import { expect, it } from "vitest";
import { completionScript } from "./completion.ts";

function program(): Command {
  const root = new Command("agent-trainer");
  root.command("train").description("it's trained").option("--resume [dir]", "resume");
  const runs = root.command("runs").description("runs");
  runs.command("list").option("--json", "print JSON");
  runs.command("gc").option("--yes", "delete");
  return root;
}

/** What bash offers for these words, the last of which is being typed. */
function offered(...words: string[]): string[] {
  const script = `${completionScript(program(), "bash")}
COMP_WORDS=(agent-trainer ${words.map((word) => `'${word}'`).join(" ")})
COMP_CWORD=${words.length}
_agent_trainer
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim();
  return text === "" ? [] : text.split("\n");
}

it.skipIf(process.platform === "win32")("completes commands, subcommands and flags in bash", () => {
  expect(offered("")).toEqual(["train", "runs", "--help"]);
  expect(offered("tr")).toEqual(["train"]);
  expect(offered("train", "--r")).toEqual(["--resume"]);
  expect(offered("runs", "")).toEqual(["list", "gc", "--help"]);
  expect(offered("runs", "gc", "--")).toEqual(["--yes", "--help"]);
  // Nothing of ours: bash goes on with files.
  expect(offered("train", "sho")).toEqual([]);
});

it("is a script of zsh, and of fish with quotes in descriptions", () => {
  expect(completionScript(program(), "zsh")).toMatch(/^autoload .*bashcompinit/u);
  const fish = completionScript(program(), "fish");
  expect(fish).toContain(
    "complete -c agent-trainer -f -n '__fish_use_subcommand' -a train -d 'it\\'s trained'",
  );
  expect(fish).toContain("-l yes -d 'delete'");
  if (spawnSync("fish", ["--version"]).status !== 0) return;
  expect(spawnSync("fish", ["--no-execute"], { input: fish }).status).toBe(0);
});
