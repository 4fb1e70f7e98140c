/** How the package is installed, in the pages that say it. The first release sets `published` to true and runs `npm run schema`. */

/** Whether `agent-trainer` is on the npm registry. */
const published = false;

const tarball =
  "The package is not published yet. In a clone of the repository, `npm run build && npm pack` makes a tarball; install that in its place.";

/** Of each page the text before and after the first release. */
const texts: Readonly<Record<string, readonly [before: string, after: string]>> = {
  "README.md": [
    `\`\`\`sh
git clone REPOSITORY agent-trainer && cd agent-trainer
npm run demo
\`\`\`

Only Node 20.19 or later is needed: the command installs and compiles what is missing. The package is not published yet; [Install](docs/install.md) says how to use it in your project.`,
    `\`\`\`sh
npm install agent-trainer openai
npx agent-trainer demo
\`\`\`

Only Node 20.19 or later is needed. In a clone, \`npm run demo\` does the same.`,
  ],
  "docs/tutorial.md": [tarball, ""],
  "docs/init.md": [
    `${tarball} Write \`npx --package=PATH/agent-trainer-0.1.0.tgz agent-trainer init\`; \`package.json\` then names that tarball.`,
    "",
  ],
  "docs/install.md": [
    `${tarball} Below, write \`../agent-trainer/agent-trainer-0.1.0.tgz\` for \`agent-trainer\`.`,
    "",
  ],
};

export const installPages: readonly string[] = Object.keys(texts);

/** The page with its text between the marks. */
export function withInstallText(path: string, page: string): string {
  const text = texts[path]![published ? 1 : 0];
  const block = ["<!-- install -->", ...(text === "" ? [] : [text]), "<!-- /install -->"];
  return page.replace(/<!-- install -->.*?<!-- \/install -->/su, () => block.join("\n\n"));
}
