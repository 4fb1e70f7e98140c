/** A command line as words, with files of the project by their whole path. */
import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { ConfigError } from "../../../core/errors.ts";

/** Anything of a shell but plain and quoted words. */
const shellSyntax = /[|&;<>()$`\\*?[\]{}~#!\n]/u;

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
 * @throws ConfigError when there is no word.
 */
export function commandWords(
  command: string | readonly string[],
  folder: string,
): readonly string[] {
  if (typeof command === "string" && shellSyntax.test(command)) return ["sh", "-c", command];
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
    if (isAbsolute(word) || (index === 0 && !word.includes("/"))) return word;
    const path = resolve(folder, word);
    return isFile(path) ? path : word;
  });
}
