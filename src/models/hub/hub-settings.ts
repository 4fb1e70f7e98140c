/** Where the hub and its cache are, from the environment variables that Hugging Face's own tools read. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export interface HubSettings {
  /** Without a slash at its end. `HF_ENDPOINT` */
  readonly endpoint: string;
  /** Sent to the endpoint, and nowhere else. `HF_TOKEN`, or the file that `hf auth login` writes */
  readonly token: string | null;
  /** `HF_HUB_CACHE`, or `hub` in `HF_HOME` */
  readonly cacheFolder: string;
  /** No server is contacted. `HF_HUB_OFFLINE` */
  readonly offline: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readHubSettings(env: Environment = process.env): HubSettings {
  const text = (name: string): string | undefined => {
    const value = env[name]?.trim();
    return value === "" ? undefined : value;
  };
  const home =
    text("HF_HOME") ?? join(text("XDG_CACHE_HOME") ?? join(homedir(), ".cache"), "huggingface");
  const isOn = (name: string): boolean => /^(?:1|on|yes|true)$/iu.test(text(name) ?? "");
  return {
    endpoint: (text("HF_ENDPOINT") ?? "https://huggingface.co").replace(/\/+$/u, ""),
    token: text("HF_TOKEN") ?? readToken(text("HF_TOKEN_PATH") ?? join(home, "token")),
    cacheFolder: text("HF_HUB_CACHE") ?? text("HUGGINGFACE_HUB_CACHE") ?? join(home, "hub"),
    offline: isOn("HF_HUB_OFFLINE"),
  };
}

function readToken(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim() || null;
  } catch {
    return null;
  }
}
