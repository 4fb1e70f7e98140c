/** What the kernels are compiled for, and with which flags. */

const commonFlags = [
  "-std=gnu11",
  "-O3",
  "-ffp-contract=fast-honor-pragmas",
  "-fno-sanitize=undefined",
  "-fvisibility=hidden",
  "-Wall",
  "-Wextra",
  "-Werror",
];

const avx512 = ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mfma"];
const x64 = {
  avx512_bf16: [...avx512, "-mavx512bf16"],
  avx512,
  avx2: ["-mavx2", "-mfma"],
  sse2: [],
};
// Linux gives a process these registers when it asks for them.
const x64WithTiles = { amx_bf16: [...x64.avx512_bf16, "-mamx-tile", "-mamx-bf16"], ...x64 };
const arm64 = { neon_bf16: ["-mcpu=generic+bf16"], neon: [] };

const addonSources = [
  "addon/addon.c",
  "platform/memory.c",
  "platform/processor.c",
  "platform/program.c",
  "platform/team.c",
  "platform/thread.c",
];
const addon = (target, sets, { flags = ["-fPIC"], linkFlags = [] } = {}) => ({
  target,
  sets,
  sources: addonSources,
  file: "agent-trainer.node",
  flags: [...commonFlags, ...flags, "-Inode_modules/node-api-headers/include"],
  linkFlags: ["-shared", "-s", ...linkFlags],
});
const linux = { linkFlags: ["-lm"] };
const apple = {
  linkFlags: ["-Wl,-undefined,dynamic_lookup", "-Wl,-install_name,@rpath/agent-trainer.node"],
};
// Without the time of the build.
const windows = { flags: [], linkFlags: ["-Wl,-Brepro"] };

// All of them are in Node 20.
const wasmFeatures =
  "-mcpu=generic+simd128+atomics+bulk_memory+nontrapping_fptoint+sign_ext+mutable_globals";

/** The names are those that src/engine/native/platform-name.ts gives. */
export const platforms = {
  "linux-x64-gnu": addon("x86_64-linux-gnu.2.17", x64WithTiles, linux),
  "linux-arm64-gnu": addon("aarch64-linux-gnu.2.17", arm64, linux),
  "linux-x64-musl": addon("x86_64-linux-musl", x64WithTiles, { linkFlags: ["-lm", "-dynamic"] }),
  "linux-arm64-musl": addon("aarch64-linux-musl", arm64, { linkFlags: ["-lm", "-dynamic"] }),
  "darwin-x64": addon("x86_64-macos.11.0", x64, apple),
  "darwin-arm64": addon("aarch64-macos.11.0", arm64, apple),
  "win32-x64": addon("x86_64-windows-gnu", x64, windows),
  "win32-arm64": addon("aarch64-windows-gnu", arm64, windows),
  wasm: {
    target: "wasm32-wasi",
    sets: { simd128: [] },
    sources: ["wasm/team.c", "wasm/wasm.c", "platform/program.c"],
    file: "agent-trainer.wasm",
    flags: [...commonFlags, wasmFeatures],
    // The memory is JavaScript's, shared by the instances of several threads, which never run at the same time.
    linkFlags: [
      wasmFeatures,
      "-s",
      "-mexec-model=reactor",
      "-Wl,--no-entry,--import-memory,--shared-memory,--max-memory=4294901760",
      "-Wl,-z,stack-size=1048576",
    ],
  },
};

/** The platform of this machine, as Node was built for it. */
export function hostPlatform() {
  const { platform, arch } = process;
  if (platform !== "linux") return `${platform}-${arch}`;
  const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  return `linux-${arch}-${isGlibc ? "gnu" : "musl"}`;
}
