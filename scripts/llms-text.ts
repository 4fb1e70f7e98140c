/** `llms.txt` (llmstxt.org): what this project is and where its pages are, for programs that read them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../test/docs/pages.ts";
import { type Entry, readContents } from "./contents.ts";

/** What follows the description: what a model gets wrong without having read anything. */
const notes = [
  "Facts: one npm package, ESM only, Node 20.19 or later. Training runs on the CPU without a GPU, Python or API key (`backend: local`), or on Tinker, Fireworks or verl.",
  "The agent is any code that calls a model at the base URL that it is given; the reward is a function of its task and episode.",
];

/** Of the repository and the package. */
export const llmsFile = "llms.txt";

/** @param linkOf the link of a page; null leaves it out. @default paths of the pages that the package has */
export function llmsText(
  linkOf: (entry: Entry) => string | null = ({ path, isPackaged }) => (isPackaged ? path : null),
): string {
  const { name, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    name: string;
    description: string;
  };
  const sections = readContents().map(({ title, entries }) => {
    const lines = entries.flatMap((entry) => {
      const link = linkOf(entry);
      const about = entry.about === "" ? "" : `: ${entry.about}`;
      return link === null ? [] : [`- [${entry.title}](${link})${about}`];
    });
    return `## ${title}\n\n${lines.join("\n")}`;
  });
  return `${[`# ${name}`, `> ${description}`, notes.join("\n"), ...sections].join("\n\n")}\n`;
}
