/** A command line as words, with files of the project by their whole path. */
import { statSync } from "node:fs";
import nodePath, { type PlatformPath } from "node:path";
import { ConfigError } from "../../../core/errors.ts";

/** Anything of a shell but plain and quoted words. */
const shellSyntax = /[|&;<>()$`*?[\]{}~#!\n]/u;

/** A backslash is an escape of a shell, but separates folders on Windows. */
const needsShell = (command: string, { sep }: PlatformPath): boolean =>
  shellSyntax.test(command) || (sep !== "\\" && command.includes("\\"));

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * A list is taken as it is; a text is split at white space outside of quotes, or given to `sh -c` where it
 * uses more of a shell than that. Words that name a file in `folder` become whole paths, since the command
 * runs in another folder; a shell finds it as `$AGENT_TRAINER_PROJECT`.
 * @param path those of another system, for tests. @default those of this system
 * @throws ConfigError when there is no word.
 */
export function commandWords(
  command: string | readonly string[],
  folder: string,
  path: PlatformPath = nodePath,
): readonly string[] {
  if (typeof command === "string" && needsShell(command, path)) return ["sh", "-c", command];
  const words =
    typeof command === "string"
      ? (command.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/gu) ?? []).map((word) =>
          word.replaceAll(/"([^"]*)"|'([^']*)'/gu, "$1$2"),
        )
      : command;
  if (words.length === 0 || words[0] === "") {
    throw new ConfigError({
      message: "The command of an agent is empty.",
      hint: 'Give a command such as "python agent.py", or ["python", "agent.py"].',
      fields: { command },
    });
  }
  return words.map((word, index) => {
    // Without a slash, the first word is looked up in PATH.
    const isPlain = !word.includes("/") && !word.includes(path.sep);
    if (path.isAbsolute(word) || (index === 0 && isPlain)) return word;
    const file = path.resolve(folder, word);
    return isFile(file) ? file : word;
  });
}
