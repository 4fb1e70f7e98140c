import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readHubSettings } from "../../src/models/hub/hub-settings.ts";
import { parseModelId } from "../../src/models/hub/model-id.ts";

it.each([
  ["Qwen/Qwen3-0.6B", { repository: "Qwen/Qwen3-0.6B", revision: "main", file: null }],
  ["a/b@v1.0", { repository: "a/b", revision: "v1.0", file: null }],
  ["a/b@refs/pr/3", { repository: "a/b", revision: "refs/pr/3", file: null }],
  ["a/b:x-Q4_K_M.gguf", { repository: "a/b", revision: "main", file: "x-Q4_K_M.gguf" }],
  ["a/b@main:sub/x.GGUF", { repository: "a/b", revision: "main", file: "sub/x.GGUF" }],
  ["gpt2", null],
  ["./a/b", null],
  ["../b", null],
  ["a/..", null],
  ["a/b/c", null],
  ["a/b@../../x", null],
  ["a/b:../x.gguf", null],
  ["a/b:x.bin", null],
  ["builtin:shop-tiny", null],
])("%s is read as a model's name", (text, id) => {
  expect(parseModelId(text)).toEqual(id);
});

it("follows the variables of Hugging Face's tools", () => {
  const folder = mkdtempSync(join(tmpdir(), "hf-"));
  writeFileSync(join(folder, "token"), "hf_file\n");
  expect(readHubSettings({ HF_HOME: folder })).toEqual({
    endpoint: "https://huggingface.co",
    token: "hf_file",
    cacheFolder: join(folder, "hub"),
    offline: false,
  });
  expect(
    readHubSettings({
      HF_HOME: folder,
      HF_TOKEN: "hf_env",
      HF_HUB_CACHE: "/cache",
      HF_ENDPOINT: "http://mirror/",
      HF_HUB_OFFLINE: "1",
    }),
  ).toEqual({ endpoint: "http://mirror", token: "hf_env", cacheFolder: "/cache", offline: true });
  const plain = readHubSettings({ HF_TOKEN_PATH: join(folder, "none"), HF_HUB_OFFLINE: "0" });
  expect(plain).toMatchObject({ token: null, offline: false });
  expect(plain.cacheFolder).toBe(join(homedir(), ".cache/huggingface/hub"));
  expect(readHubSettings({ XDG_CACHE_HOME: "/x" }).cacheFolder).toBe("/x/huggingface/hub");
  rmSync(folder, { recursive: true });
});
