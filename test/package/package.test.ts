import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeEnv, hasPython, modelFolder } from "../verl/fake-bridge.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const hashesFile = join(root, "native/prebuilt/hashes.json");
let folder: string;
let packed: Packed;

interface Packed {
  filename: string;
  unpackedSize: number;
  files: { path: string }[];
}

interface Hashes {
  files: Record<string, { sha256: string }>;
}

interface Failed {
  code: number;
  stdout: string;
  stderr: string;
}

/** A user's project: the tarball and nothing else, so no openai. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-trainer-package-"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: root,
  });
  [packed] = JSON.parse(stdout) as [Packed];
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "user", type: "module", private: true }),
  );
  await run("npm", ["install", "--no-audit", "--no-fund", `./${packed.filename}`], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function node(code: string): Promise<string> {
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code], {
    cwd: folder,
  });
  return stdout.trim();
}

describe("the packed package, installed alone", () => {
  it("holds what is needed to run and to read, and no file twice", () => {
    const paths = packed.files.map(({ path }) => path);
    const unwanted = paths.filter((path) =>
      /\.map$|^(?!templates\/).*\.test\.|^src\/|^dist\/\.built$|__pycache__|\bfake|^python\/tests\//.test(
        path,
      ),
    );
    expect(unwanted).toEqual([]);
    expect(paths.length).toBeLessThan(3200);
    expect(packed.unpackedSize).toBeLessThan(15_000_000);
    for (const path of [
      "dist/index.js",
      "dist/index.d.ts",
      "dist/examples/shop/agent.js",
      "CHANGELOG.md",
      "templates/fetch/agent.ts",
    ]) {
      expect(paths).toContain(path);
    }
  });

  // Kernels that change are compiled for one machine; those of all come with `npm run native`.
  it.skipIf(!existsSync(hashesFile))(
    "brings the kernels of every platform, and no other",
    async () => {
      const paths = packed.files
        .map(({ path }) => path)
        .filter((path) => path.startsWith("native/"));
      const { files } = JSON.parse(await readFile(hashesFile, "utf8")) as Hashes;
      const expected = Object.keys(files).map((path) => `native/prebuilt/${path}`);
      expect(paths.sort()).toEqual([...expected, "native/prebuilt/hashes.json"].sort());
      expect(expected).toHaveLength(9);
      for (const [path, { sha256 }] of Object.entries(files)) {
        const bytes = await readFile(
          join(folder, "node_modules/agent-trainer/native/prebuilt", path),
        );
        expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
      }
    },
  );

  it.skipIf(!existsSync(hashesFile)).each(["addon", "wasm"])(
    "computes with its own kernels, as %s",
    async (kind) => {
      const dist = "./node_modules/agent-trainer/dist/engine";
      const sum = await node(
        `process.on("warning", (warning) => console.log(warning.message));
         process.env.AGENT_TRAINER_NATIVE = "${kind}";
         const { Device } = await import("${dist}/tensor/device.js");
         const { Program } = await import("${dist}/tensor/program.js");
         const { tensorOf } = await import("${dist}/tensor/tensor.js");
         const { addRows } = await import("${dist}/tensor/operations/rows.js");
         const device = new Device({ threads: 2 });
         const [x, y] = [tensorOf(device, [1, 2]), tensorOf(device, [40, 40])];
         const program = new Program(device);
         addRows(program, x, y);
         await program.run();
         console.log(device.native.kind, ...y.data);`,
      );
      expect(sum).toBe(`${kind} 41 42`);
    },
  );

  it("has no page that leads to a file which is not in it", async () => {
    const paths = packed.files.map(({ path }) => path);
    const pages = paths.filter((path) => path.endsWith(".md"));
    expect(pages).toContain("docs/index.md");
    const texts = await Promise.all(pages.map((path) => readFile(join(root, path), "utf8")));
    const lost = pages.flatMap((page, i) =>
      [...texts[i]!.matchAll(/\]\(([^)\s#]+)[^)\s]*\)|(?:src|href)="([^"#]+)/gu)]
        .map(([, link, attribute]) => link ?? attribute!)
        .filter((target) => !/^[a-z]+:/u.test(target))
        .map(
          (target) => [page, posix.join(posix.dirname(page), target).replace(/\/$/u, "")] as const,
        )
        .filter(
          ([, target]) => !paths.some((path) => path === target || path.startsWith(`${target}/`)),
        ),
    );
    expect(lost).toEqual([]);
  });

  it("has no compiled file that looks for a source map", async () => {
    const dist = join(folder, "node_modules/agent-trainer/dist");
    const files = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith(".js"));
    const texts = await Promise.all(files.map((name) => readFile(join(dist, name), "utf8")));
    expect(texts.filter((text) => text.includes("//# sourceMappingURL"))).toEqual([]);
  });

  it("is a small installation, in packages and in bytes", async () => {
    const modules = join(folder, "node_modules");
    expect((await readdir(modules)).length).toBeLessThan(40);
    const entries = await readdir(modules, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60e6);
  });

  it.each([
    ["agent-trainer", "AgentTrainer"],
    ["agent-trainer", "fineTune"],
    ["agent-trainer/fetch", "redirectFetch"],
    ["agent-trainer/backend", "rowFactors"],
    ["agent-trainer/gateway", "createGateway"],
    ["agent-trainer/local", "createLocalBackend"],
    ["agent-trainer/tinker", "createTinkerClient"],
    ["agent-trainer/tinker", "createTinkerBackend"],
    ["agent-trainer/fireworks", "createFireworksBackend"],
    ["agent-trainer/verl", "createVerlBackend"],
    ["agent-trainer/testing", "createScriptedTarget"],
    ["agent-trainer/environments", "environment"],
    ["agent-trainer/evaluators", "exactMatch"],
    ["agent-trainer/datasets", "loadDataset"],
  ])("imports %s: %s", async (subpath, name) => {
    expect(await node(`console.log(typeof (await import("${subpath}")).${name})`)).toBe("function");
  });

  it.skipIf(!hasPython)("starts the bridge to verl that it brings", async () => {
    const started = await node(
      `import { createVerlBackend } from "agent-trainer/verl";
       import { createByteRenderer } from "agent-trainer/testing";
       const optim = { learningRate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, maxGradNorm: 1 };
       const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 1 };
       const run = { optim, batchSize: 1, groupSize: 2, ...sampling };
       const env = ${JSON.stringify(fakeEnv)};
       const backend = createVerlBackend({ run, env, renderer: createByteRenderer() });
       const { signal } = new AbortController();
       const target = await backend.start({ seed: 1, model: { name: ${JSON.stringify(modelFolder)}, lora: null }, signal });
       const health = await fetch(new URL("/health", target.workers[0].url));
       console.log(target.kind, health.status, await backend.publishWeights());
       await backend[Symbol.asyncDispose]();`,
    );
    expect(started).toBe("http 200 1");
  });

  it("keeps its exported names (change them on purpose)", async () => {
    const names = await node(
      'console.log(Object.keys(await import("agent-trainer")).sort().join("\\n"))',
    );
    expect(names).toMatchSnapshot();
  });

  it("has declarations that a strict project compiles", async () => {
    await writeFile(
      join(folder, "use.ts"),
      `import { AgentTrainer } from "agent-trainer";
       const trainer = new AgentTrainer({
         agentFlow: async (task, config) => \`\${task.instruction} \${config.baseUrl}\`,
         evaluator: (task, episode) => episode.output === task.metadata.answer,
         config: { model: { name: "builtin:shop-tiny" }, trainer: { totalBatches: 1 } },
         trainDataset: [{ id: "1", instruction: "x", metadata: { answer: "y" } }],
       });
       export const result: Promise<{ status: string }> = trainer.train();`,
    );
    const flags = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2023",
      "--lib",
      "es2023,esnext.disposable",
      "--types",
      "node",
    ];
    await run("npm", ["install", "--no-audit", "--no-fund", "@types/node@20"], { cwd: folder });
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { stdout } = await run(process.execPath, [tsc, ...flags, "use.ts"], {
      cwd: folder,
    }).catch((error: Failed) => error);
    expect(stdout).toBe("");
  });

  it("runs --help and --version", async () => {
    const bin = join(folder, "node_modules/.bin/agent-trainer");
    const help = await run(bin, ["--help"], { cwd: folder });
    for (const command of ["train", "demo"]) expect(help.stdout).toContain(command);
    expect((await run(bin, ["--version"], { cwd: folder })).stdout).toMatch(/^\d+\.\d+\.\d+/);
  });

  it("starts a project through npx in an empty folder, which installs, trains and evaluates", async () => {
    const project = join(folder, "projects", "shop");
    await mkdir(project, { recursive: true });
    const tarball = join(folder, packed.filename);
    const env = { ...process.env, MIN_REWARD: "0.1", NO_COLOR: "1" };
    const npm = (command: string, ...args: string[]) => run(command, args, { cwd: project, env });
    const init = await npm(
      "npx",
      "--yes",
      `--package=${tarball}`,
      "agent-trainer",
      "init",
      "--framework",
      "fetch",
      "--json",
    );
    expect(JSON.parse(init.stdout)).toMatchObject({ framework: "fetch" });
    expect(await readFile(join(project, "package.json"), "utf8")).toContain(
      `"agent-trainer": "file:../../${packed.filename}"`,
    );
    await npm("npm", "install", "--no-audit", "--no-fund");
    await npm("npm", "run", "train", "--", "trainer.total_batches=2");
    const { stdout } = await npm("npm", "test");
    expect(stdout).toMatch(/Tests +3 passed/u);
    const again = await npm("npx", "agent-trainer", "init", "--json");
    const { files } = JSON.parse(again.stdout) as { files: { status: string }[] };
    expect(files.filter(({ status }) => status !== "kept")).toEqual([]);
  });

  it("says in one sentence what the demo needs", async () => {
    const bin = join(folder, "node_modules/.bin/agent-trainer");
    const failed = (await run(bin, ["demo"], { cwd: folder }).catch(
      (error: unknown) => error,
    )) as Failed;
    expect(failed.code).toBeGreaterThan(0);
    expect(failed.stderr).toContain("npm install openai");
    expect(failed.stderr).not.toMatch(/\n\s+at /);
  });
});
