/** `agent-trainer init`: writes a project that trains at once. */
import { type InitFile, initProject } from "../../launch/init/init-project.ts";
import { ConfigError } from "../../core/errors.ts";
import { knownModels } from "../../launch/init/known-models.ts";
import { frameworkNames, requireFramework } from "../../launch/init/frameworks.ts";
import { defined } from "../../util/defined.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { chooseModel } from "../terminal/choose-model.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import { colorsFor } from "../terminal/terminal.ts";

const help = `
Frameworks: ${frameworkNames.join(", ")}.

Examples:
  $ agent-trainer init shop
  $ agent-trainer init --framework ai-sdk
  $ agent-trainer init shop --model
  $ agent-trainer init shop --model HuggingFaceTB/SmolLM2-135M-Instruct
  $ agent-trainer init shop --framework langgraph --dry-run
`;

const words: Readonly<Record<InitFile["status"], string>> = {
  created: "created",
  kept: "kept",
  missing: "would create",
};

/** Asks where a name is left out. @throws ConfigError without a terminal to ask on */
async function requireModel(given: string | true, isJson: boolean, io: CliIo): Promise<string> {
  if (given !== true) return given;
  const isTerminal = process.stdin.isTTY && io.stderr.isTTY === true && !isJson;
  const chosen = isTerminal ? await chooseModel(io) : null;
  if (chosen !== null) return chosen;
  throw new ConfigError({
    message: isTerminal
      ? "No model was chosen, so nothing was written."
      : "--model has no name, and there is no terminal to ask for it.",
    hint: `Name one: agent-trainer init shop --model ${knownModels[0]?.name ?? "OWNER/NAME"}. Others: ${knownModels
      .slice(1)
      .map(({ name }) => name)
      .join(", ")}, any OWNER/NAME of a hub, a folder or a .gguf file.`,
    fields: { option: "--model" },
  });
}

export const command: CliCommand = defineCommand({
  flags: (init) =>
    init
      .argument("[folder]", "folder of the project (default: the current folder)")
      .option("--framework <name>", "framework that the agent is written with", "openai")
      .option(
        "--model [name]",
        "model that is trained: OWNER/NAME on a hub, a model folder, a run or a .gguf file; without a name it asks, with a table of gigabytes and the time of a step (default: builtin:shop-tiny, which knows only the shop of this project)",
      )
      .option("--dry-run", "list the files that would be created, and write nothing"),
  help,
  async run([folder], flags, io) {
    const { framework: name, dryRun = false, json = false, quiet = false } = flags;
    const framework = requireFramework(name);
    const { model: given } = flags;
    const model = given === undefined ? undefined : await requireModel(given, json, io);
    const result = initProject({
      framework,
      ...defined({ folder, model, dryRun }),
    });
    if (json) {
      io.stdout.write(`${JSON.stringify(result)}\n`);
      return exitCodes.done;
    }
    const colors = colorsFor(io.stdout);
    for (const note of result.notes)
      io.stderr.write(`${colorsFor(io.stderr).yellow("note:")} ${note}\n`);
    const width = Math.max(...result.files.map(({ status }) => words[status].length));
    const files = result.files.map(({ path, status }) => {
      const word = words[status].padEnd(width);
      return `${status === "kept" ? colors.dim(word) : colors.green(word)}  ${path}`;
    });
    const next = dryRun ? [] : ["", "Next:", ...result.next.map((line) => `  ${line}`)];
    const shown = quiet ? [] : files;
    const lines = [...shown, ...next];
    if (lines.length > 0) io.stdout.write(`${lines.join("\n")}\n`);
    return exitCodes.done;
  },
});
