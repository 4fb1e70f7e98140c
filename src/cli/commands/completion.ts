/** `agent-trainer completion SHELL`: a script for the shell, made from the tree of commands. */
import { type Command, Argument } from "commander";
import type { CliCommand } from "../define-command.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

interface Completable {
  /** Words after the program's name; empty for the program itself. */
  readonly path: readonly string[];
  readonly commands: readonly Command[];
  readonly flags: readonly { readonly long: string; readonly description: string }[];
}

function completables(command: Command, path: readonly string[] = []): Completable[] {
  const flags = command.options
    .map(({ long, description }) => ({ long, description }))
    .filter((flag): flag is { long: string; description: string } => typeof flag.long === "string")
    .concat({ long: "--help", description: "display help" });
  return [
    { path, commands: command.commands, flags },
    ...command.commands.flatMap((child) => completables(child, [...path, child.name()])),
  ];
}

/** Completes words of the tree, and files where a command takes arguments. */
function bashScript(name: string, all: readonly Completable[]): string {
  const cases = all.map(({ path, commands, flags }) => {
    const words = [...commands.map((each) => each.name()), ...flags.map(({ long }) => long)];
    return `    "${path.join(" ")}") words="${words.join(" ")}" ;;`;
  });
  const groups = all.filter(({ path, commands }) => path.length === 1 && commands.length > 0);
  return `_agent_trainer() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="\${COMP_WORDS[1]}" words=""
  [ "$COMP_CWORD" -eq 1 ] && path=""
  case "$path" in
    ${groups.map(({ path }) => path[0]).join("|")}) [ "$COMP_CWORD" -gt 2 ] && path="$path \${COMP_WORDS[2]}" ;;
  esac
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _agent_trainer ${name}
`;
}

const quote = (text: string): string => `'${text.replace(/\\/gu, "\\\\").replace(/'/gu, "\\'")}'`;

function fishScript(name: string, all: readonly Completable[]): string {
  const lines = all.flatMap(({ path, commands, flags }) => {
    const children = commands.map((each) => each.name()).join(" ");
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const at = path.length === 0 ? "__fish_use_subcommand" : seen.join("; and ");
    const below =
      path.length > 0 && children !== ""
        ? `${at}; and not __fish_seen_subcommand_from ${children}`
        : at;
    return [
      ...commands.map(
        (each) =>
          `complete -c ${name} -f -n ${quote(below)} -a ${each.name()} -d ${quote(each.description())}`,
      ),
      ...flags.map(
        ({ long, description }) =>
          `complete -c ${name} -n ${quote(at)} -l ${long.slice(2)} -d ${quote(description)}`,
      ),
    ];
  });
  return `${lines.join("\n")}\n`;
}

/** The script that a shell reads. */
export function completionScript(program: Command, shell: Shell): string {
  const all = completables(program);
  const name = program.name();
  if (shell === "fish") return fishScript(name, all);
  const script = bashScript(name, all);
  if (shell === "bash") return script;
  return `autoload -Uz compinit bashcompinit && compinit && bashcompinit\n${script}`;
}

const help = `
Examples:
  $ agent-trainer completion bash >> ~/.bashrc
  $ agent-trainer completion zsh >> ~/.zshrc
  $ agent-trainer completion fish > ~/.config/fish/completions/agent-trainer.fish
`;

/** Without the flags of the others: nothing is run, and the script alone is printed. */
export const command: CliCommand = (completion, { io }) => {
  completion
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .addHelpText("after", help)
    .action((shell: Shell) => {
      const program = completion.parent as Command;
      io.stdout.write(completionScript(program, shell));
    });
};
