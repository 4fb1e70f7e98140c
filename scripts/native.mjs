/**
 * `npm run native [-- --host]`: compiles the kernels in native/ with `zig cc`, for every platform or for this one,
 * into native/prebuilt/.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dirname, "..");
const zigVersion = "0.17.1";
const { values } = parseArgs({ options: { host: { type: "boolean", default: false } } });

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) {
    console.error(`\n"${[command, ...args].join(" ")}" failed.`);
    process.exit(1);
  }
}

/** The compiler, from PyPI, in a cache of this repository. */
function zig() {
  const folder = join(root, ".cache/zig", zigVersion);
  const python = join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  if (!existsSync(join(folder, "ready"))) {
    run("python3", ["-m", "venv", folder]);
    run(python, ["-m", "pip", "install", "--quiet", `ziglang==${zigVersion}`]);
    mkdirSync(join(folder, "ready"));
  }
  return [python, "-m", "ziglang", "cc"];
}

const x86 = {
  avx512_bf16: ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512bf16", "-mfma"],
  avx512: ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mfma"],
  avx2: ["-mavx2", "-mfma"],
  sse2: [],
};
const platforms = {
  "linux-x64-gnu": { target: "x86_64-linux-gnu.2.17", sets: x86 },
};

const [command, ...prefix] = zig();
const flags = [
  "-std=gnu11",
  "-O3",
  "-ffp-contract=fast",
  "-fno-sanitize=undefined",
  "-Wall",
  "-Wextra",
  "-Werror",
];
for (const [name, { target, sets }] of Object.entries(platforms)) {
  const work = join(root, ".cache/native", name);
  const out = join(root, "native/prebuilt", name);
  mkdirSync(work, { recursive: true });
  mkdirSync(out, { recursive: true });
  const base = [...prefix, "-target", target, ...flags, "-fPIC"];
  const objects = Object.entries(sets).map(([set, options]) => {
    const object = join(work, `${set}.o`);
    run(command, [
      ...base,
      ...options,
      `-DINSTRUCTION_SET=${set}`,
      "-c",
      "native/kernels/all.c",
      "-o",
      object,
    ]);
    return object;
  });
  const rest = [
    "addon/addon.c",
    "platform/memory.c",
    "platform/processor.c",
    "platform/team.c",
    "platform/thread.c",
  ];
  run(command, [
    ...base,
    "-Inode_modules/node-api-headers/include",
    "-shared",
    "-s",
    ...objects,
    ...rest.map((file) => `native/${file}`),
    "-o",
    join(out, "agent-trainer.node"),
  ]);
}
