/** Follows a page of docs/: the folder that its commands run in, with this package built and linked. */
import { join } from "node:path";
import { linkNamed, runCommandLine, writePrograms } from "../follow-page.ts";
import { temporaryFolder } from "./cli-process.ts";

export interface PageProject extends AsyncDisposable {
  readonly path: string;
  /** Links packages, `agent-trainer` and others of this repository, as an installation would. */
  install(names: readonly string[]): Promise<void>;
  /** What the commands printed, when all of them ended with status 0. */
  shell(commands: string): Promise<string>;
}

const programs = { "agent-trainer": "agent-trainer/dist/cli/main.js", tsx: "tsx/dist/cli.mjs" };

export async function pageProject(): Promise<PageProject> {
  const folder = await temporaryFolder();
  const modules = join(folder.path, "node_modules");
  return {
    path: folder.path,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    async install(names) {
      await linkNamed(modules, names);
      await writePrograms(modules, programs);
    },
    shell: (commands) => runCommandLine(commands, folder.path),
  };
}
