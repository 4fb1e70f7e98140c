/** The stages of a first hour: commands of the pages as they are, with a tarball in place of the registry. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { knownModels } from "../../src/launch/init/known-models.ts";
import { codeBlocks, readPage } from "../../test/docs/pages.ts";

export interface Stage {
  /** As the report says it. */
  readonly label: string;
  readonly command: string;
  /** Relative to the folder of the hour. */
  readonly folder: string;
  /** Whether the memory of its largest process is worth a line. */
  readonly hasPeak?: true;
}

export const repository: string = fileURLToPath(new URL("../../", import.meta.url));
const clone = "agent-trainer";
export const tarballName = "agent-trainer.tgz";
const tarball = `../${tarballName}`;

/** Until it answers, then an end as Ctrl-C asks for; a shell in the background ignores the signal itself. */
const untilUp = (start: string, port: number, path: string, then: string): string => `
${start} --port ${port} & pid=$!
trap 'kill $pid 2>/dev/null || true' EXIT
until curl -s -o /dev/null http://127.0.0.1:${port}${path}; do sleep 0.1; done
${then}
kill -TERM $pid
wait $pid || true`;

/** With the model that ships with the package. */
const project = "builtin/shop";
export const builtinStages: readonly Stage[] = [
  {
    label: "clone (from this disk)",
    folder: ".",
    command: `git clone --quiet 'file://${repository}' ${clone}`,
  },
  { label: "npm ci", folder: clone, command: "npm ci --no-audit --no-fund" },
  { label: "compile", folder: clone, command: "npm run build" },
  { label: "npm run demo", folder: clone, command: "npm run demo", hasPeak: true },
  {
    label: "npm pack",
    folder: clone,
    command: `npm pack --silent && mv agent-trainer-*.tgz ${tarball}`,
  },
  {
    label: "agent-trainer init",
    folder: "builtin",
    command: `npx --yes --package=${tarball} agent-trainer init shop --framework openai`,
  },
  { label: "npm install of the project", folder: project, command: "npm install --no-audit" },
  { label: "npm run train", folder: project, command: "npm run train", hasPeak: true },
  { label: "npm test", folder: project, command: "npm test" },
];

/** Those of docs/first-hour.md, with `model` in the place of the one on the hub. */
export function modelStages(model: string, port: number): readonly Stage[] {
  const blocks = codeBlocks(readPage("docs/first-hour.md"));
  const local = join("node_modules", ".bin", "agent-trainer");
  /** The block of that name, without npx, which would not pass a signal on. */
  const block = (name: string): string => {
    const found = blocks.find(({ info }) => info[0] === "sh" && info[1] === name);
    if (found === undefined) throw new Error(`docs/first-hour.md has no block "${name}".`);
    return found.code
      .trim()
      .replaceAll(knownModels[0]!.name, model)
      .replaceAll("8100", String(port));
  };
  const here = (name: string): string => block(name).replaceAll("npx agent-trainer", local);
  const start = (name: string): string => here(name).replace(/ --port \d+/u, "");
  const install = block("install").replace("cd shop\n", "");
  const inProject = "model/shop";
  const from = block("init").replace("npx ", `npx --yes --package=${tarball} `);
  return [
    { label: "agent-trainer init --model", folder: "model", command: from },
    { label: "npm install of the project", folder: inProject, command: install },
    { label: "evaluation before", folder: inProject, command: here("before"), hasPeak: true },
    { label: "npm run sft", folder: inProject, command: block("sft"), hasPeak: true },
    {
      label: "npm run train, 2 of its 12 steps",
      folder: inProject,
      command: `${block("train")} -- trainer.total_batches=2`,
      hasPeak: true,
    },
    { label: "evaluation after", folder: inProject, command: here("after"), hasPeak: true },
    { label: "comparison of both", folder: inProject, command: here("compare") },
    {
      label: "viewer, until it answers",
      folder: inProject,
      command: untilUp(start("view"), port, "/", ":"),
    },
    {
      label: "one line of a chat",
      folder: inProject,
      command: here("chat"),
      hasPeak: true,
    },
    {
      label: "served, until its first answer",
      folder: inProject,
      command: untilUp(
        start("serve"),
        port,
        "/health",
        here("ask").replace("curl -s ", "curl -fs "),
      ),
    },
    { label: "export as GGUF", folder: inProject, command: here("export"), hasPeak: true },
  ];
}
