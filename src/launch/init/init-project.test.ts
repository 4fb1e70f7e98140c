import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import { type FrameworkName, frameworkNames, frameworks, nodeNote } from "./frameworks.ts";
import { initProject } from "./init-project.ts";
import { ownSpec, packageRoot, readManifest } from "./own-package.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-trainer-init-"));
});

interface Scripts {
  readonly scripts: Readonly<Record<string, string>>;
}

const at = (name: string): string => join(folder, name);
const allFiles = [
  ...[".gitignore", "README.md", "agent.ts", "evaluation.test.ts", "evaluator.ts"],
  ...["package.json", "tools.ts", "train.jsonl", "train.yaml", "tsconfig.json", "val.jsonl"],
];
const withStatus = (status: string, result = initProject({ folder })): string[] =>
  result.files.filter((file) => file.status === status).map(({ path }) => path);

describe("initProject", () => {
  it.each(frameworkNames)(
    "writes every file for %s, each package at the tested version",
    (name) => {
      const { files, next } = initProject({ folder, framework: name });
      expect(readdirSync(folder).toSorted()).toEqual(allFiles.toSorted());
      expect(files.map(({ status }) => status)).toEqual(allFiles.map(() => "created"));
      expect(next.slice(-3)).toEqual(["npm install", "npm run train", "npm test"]);
      const { dependencies = {} } = readManifest(folder);
      const own = readManifest(packageRoot);
      for (const [imported, version] of Object.entries(frameworks[name].packages)) {
        const tested = own.devDependencies?.[imported] ?? own.dependencies?.[imported];
        expect(dependencies[imported]).toBe(version ?? tested);
        expect(readFileSync(at("agent.ts"), "utf8")).toContain(`from "${imported}`);
      }
      expect(readFileSync(at("README.md"), "utf8").trim().split("\n")).toHaveLength(11);
    },
  );

  it("creates the folder and those above it, and says how to enter it", () => {
    const path = join(folder, "a b", "c");
    const { next } = initProject({ folder: path });
    expect(statSync(join(path, "agent.ts")).isFile()).toBe(true);
    expect(next[0]).toBe(`cd '${relative(process.cwd(), path)}'`);
  });

  it("writes the built-in model's files as they are", () => {
    expect(initProject({ folder }).model).toBe("builtin:shop-tiny");
    expect(readFileSync(at("train.yaml"), "utf8")).toBe(
      readFileSync(join(packageRoot, "templates/common/train.yaml"), "utf8"),
    );
  });

  it("writes demonstrations for a model that is named, and says which commands come next", () => {
    const id = "HuggingFaceTB/SmolLM2-135M-Instruct";
    const { model, files, next } = initProject({ folder, model: id });
    expect(model).toBe(id);
    expect(files.map(({ path }) => path).toSorted()).toEqual(
      [...allFiles, "sft.yaml", "demonstrations.jsonl"].toSorted(),
    );
    for (const file of ["train.yaml", "sft.yaml"]) {
      const { config } = loadConfig({ file: at(file) });
      expect(config.model).toMatchObject({ name: id, loraRank: 16 });
    }
    expect(loadConfig({ file: at("train.yaml") }).config.training.learningRate).toBe(3e-4);
    expect(next.slice(1)).toEqual([
      "npm install",
      `npx agent-trainer model pull ${id}`,
      "npm run sft",
      "npm run train",
      "npm test",
      `npx agent-trainer chat runs/rl --agent train.yaml --before ${id}`,
    ]);
    const { scripts } = JSON.parse(readFileSync(at("package.json"), "utf8")) as Scripts;
    expect(scripts["train"]).toBe("agent-trainer train train.yaml model.name=runs/sft");
    expect(readFileSync(at("README.md"), "utf8")).toContain("npm run sft");
  });

  it("has prices for every task and demonstration, and right answers", async () => {
    initProject({ folder, model: "a/b" });
    const { getPrice, multiply } = (await import(at("tools.ts"))) as Record<
      string,
      (...args: unknown[]) => string
    >;
    interface Row {
      readonly instruction: string;
      readonly answer: number;
      readonly messages: readonly { readonly content: string }[];
    }
    const read = (file: string): Row[] =>
      readFileSync(at(file), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Row);
    const asked = (question: string): readonly [string, string] => {
      const [, count = "", item = ""] = /^How much do (\d+) (\w+)s cost\?$/u.exec(question) ?? [];
      return [item, multiply!(count, getPrice!(item))];
    };
    const rows = ["train.jsonl", "val.jsonl"].flatMap(read);
    const seen = rows.map(({ instruction, answer }) => {
      const [item, right] = asked(instruction);
      expect(right, instruction).toBe(String(answer));
      return item;
    });
    const shown = read("demonstrations.jsonl").map(({ messages }) => {
      const [item, right] = asked(messages[1]!.content);
      expect(messages.at(-1)!.content).toBe(right);
      return item;
    });
    // Each task is about something else, and none is demonstrated.
    expect(new Set([...seen, ...shown]).size).toBe(rows.length + shown.length);
    expect([rows.length, shown.length]).toEqual([32, 8]);
  });

  it("names a folder as the project sees it, whatever is in its name", () => {
    const model = join(folder, 'my "model": {x}');
    mkdirSync(model);
    writeFileSync(join(model, "config.json"), "{}");
    const own = join(folder, "project");
    const given = relative(process.cwd(), model);
    expect(initProject({ folder: own, model: given }).model).toBe('../my "model": {x}');
    const { config } = loadConfig({ file: join(own, "train.yaml") });
    expect(config.model.name).toBe('../my "model": {x}');
    const absolute = mkdtempSync(join(tmpdir(), "agent-trainer-init-"));
    expect(initProject({ folder: absolute, model }).model).toBe(model);
  });

  it.each([
    ["SmolLM2", /"SmolLM2" is not a model folder: .*config\.json does not exist/u],
    ["shop-tiny", /"shop-tiny" is not a model folder/u],
    ["builtin:shop", /There is no built-in model "shop"/u],
    ["./missing.gguf", /is not a file/u],
    ["", /is not a model folder/u],
    ["a/b/c", /is not a model folder/u],
  ])("refuses %j as a model, and writes nothing", (model, why) => {
    expect(() => initProject({ folder, model })).toThrow(why);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses a model where the configuration is there already", () => {
    initProject({ folder });
    expect(() => initProject({ folder, model: "a/b" })).toThrow(/train\.yaml is kept as it is/u);
  });

  it("changes nothing the second time", () => {
    initProject({ folder, framework: "fetch" });
    const before = allFiles.map((name) => readFileSync(at(name), "utf8"));
    expect(withStatus("kept", initProject({ folder, framework: "ai-sdk" })).toSorted()).toEqual(
      allFiles.toSorted(),
    );
    expect(allFiles.map((name) => readFileSync(at(name), "utf8"))).toEqual(before);
  });

  it("never overwrites: a file, an empty file, a folder, a link to nothing", () => {
    writeFileSync(at("agent.ts"), "mine");
    writeFileSync(at(".gitignore"), "");
    mkdirSync(at("train.yaml"));
    symlinkSync(at("elsewhere"), at("README.md"));
    expect(withStatus("kept").toSorted()).toEqual(
      ["agent.ts", ".gitignore", "train.yaml", "README.md"].toSorted(),
    );
    expect(readFileSync(at("agent.ts"), "utf8")).toBe("mine");
    expect(readFileSync(at(".gitignore"), "utf8")).toBe("");
    expect(readdirSync(folder)).not.toContain("elsewhere");
    expect(withStatus("created")).toEqual([]);
  });

  it("writes nothing in a dry run, and says the same", () => {
    writeFileSync(at("agent.ts"), "mine");
    const dry = initProject({ folder, dryRun: true });
    expect(readdirSync(folder)).toEqual(["agent.ts"]);
    expect(withStatus("missing", dry)).toEqual(withStatus("created"));
    const absent = join(folder, "absent");
    expect(withStatus("kept", initProject({ folder: absent, dryRun: true }))).toEqual([]);
    expect(readdirSync(folder)).not.toContain("absent");
  });

  it("names what a package.json that was there before lacks", () => {
    const mine = '{"name": "mine", "dependencies": {"openai": "^6.0.0"}, "devDependencies": {}}';
    writeFileSync(at("package.json"), mine);
    const { next } = initProject({ folder, framework: "openai" });
    expect(readFileSync(at("package.json"), "utf8")).toBe(mine);
    const own = readManifest(packageRoot).devDependencies!;
    expect(next.slice(1)).toEqual([
      "npm pkg set type=module",
      `npm install ${ownSpec(folder)}`,
      `npm install --save-dev '@types/node@${own["@types/node"]}' 'tsx@${own["tsx"]}' 'vitest@${own["vitest"]}'`,
      "npx agent-trainer train train.yaml",
      "npx vitest run",
    ]);
  });

  it("refuses a package.json that cannot be read, before anything is written", () => {
    writeFileSync(at("package.json"), "{");
    expect(() => initProject({ folder })).toThrow(/package\.json cannot be read: /u);
    expect(readdirSync(folder)).toEqual(["package.json"]);
  });

  it("refuses a file as the folder", () => {
    writeFileSync(at("x"), "");
    expect(() => initProject({ folder: at("x") })).toThrow(ConfigError);
  });

  it("refuses an unknown framework, with the nearest one", () => {
    const start = (): unknown => initProject({ folder, framework: "langraph" as FrameworkName });
    expect(start).toThrow('There is no framework "langraph". Did you mean langgraph?');
    expect(readdirSync(folder)).toEqual([]);
  });

  it("gives the project a name that npm accepts", () => {
    for (const [name, expected] of [
      ["My Shop!", "my-shop-"],
      ["_x", "x"],
      ["店", "my-agent"],
      ["agent-trainer", "my-agent"],
    ] as const) {
      initProject({ folder: at(name) });
      expect(JSON.parse(readFileSync(join(at(name), "package.json"), "utf8"))).toMatchObject({
        name: expected,
      });
    }
  });
});

describe("ownSpec", () => {
  function installed(lock: object | null): string {
    const modules = join(folder, "cache", "node_modules");
    const root = join(modules, "agent-trainer");
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, "package.json"), '{"version": "1.2.3"}');
    if (lock !== null) writeFileSync(join(modules, ".package-lock.json"), JSON.stringify(lock));
    return ownSpec(join(folder, "project"), root);
  }
  const lockOf = (resolved: string): object => ({
    packages: { "node_modules/agent-trainer": { version: "1.2.3", resolved } },
  });

  it("is the version where the package came from the registry", () => {
    expect(installed(null)).toBe("^1.2.3");
    expect(installed(lockOf("https://registry.npmjs.org/agent-trainer-1.2.3.tgz"))).toBe("^1.2.3");
  });
  it("is the tarball where the package came from one", () => {
    expect(installed(lockOf("file:../a.tgz"))).toBe("file:../a.tgz");
    expect(installed(lockOf("file:../other/a.tgz"))).toBe("file:../other/a.tgz");
  });
  it("is the folder of a clone", () => {
    expect(ownSpec(join(packageRoot, "shop"), packageRoot)).toBe("file:..");
  });
});

describe("nodeNote", () => {
  it.each([
    ["mastra", "20.19.0", /needs Node 22\.13\.0 or later; this is 20\.19\.0\.$/u],
    ["mastra", "22.9.0", /this is 22\.9\.0\.$/u],
    ["mastra", "22.13.0", /or later\.$/u],
    ["mastra", "24.0.0", /or later\.$/u],
    ["openai", "24.0.0", /^openai 7 needs Node 22; /u],
  ] as const)("%s on Node %s", (name, version, expected) => {
    expect(nodeNote(frameworks[name], version)).toMatch(expected);
  });
  it("is silent where there is nothing to say", () => {
    expect(nodeNote(frameworks.fetch, "20.19.0")).toBeNull();
  });
});
