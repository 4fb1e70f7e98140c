/** Servers of the Tinker API that the suite runs against. */
import { startServer, token } from "../../tinker/local-server.ts";
import { modelFolder, startSkyrl } from "../tinker/skyrl-server.ts";

export interface WireServer extends AsyncDisposable {
  readonly url: string;
  readonly key: string;
  readonly baseModel: string;
}

export interface WireServerKind {
  readonly name: string;
  readonly start: () => Promise<WireServer>;
  /** Whether `tinker.snapshots=live` has to be set. */
  readonly isLive: boolean;
}

const ours: WireServerKind = {
  name: "agent-trainer",
  async start() {
    const local = await startServer();
    const url = await local.server.listen();
    return {
      url,
      key: token,
      baseModel: "shop-tiny",
      [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
    };
  },
  isLive: false,
};

const skyrl: WireServerKind = {
  name: "SkyRL 0.4.0 (JAX)",
  async start() {
    const server = await startSkyrl(8465);
    return {
      url: server.url,
      key: "tml-dummy",
      baseModel: modelFolder(),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  isLive: true,
};

/** A server that runs already, by its URL, its key and one of its models. */
function named(): readonly WireServerKind[] {
  const url = process.env["TINKER_WIRE_URL"];
  if (url === undefined) return [];
  const key = process.env["TINKER_API_KEY"] ?? "tml-dummy";
  const baseModel = process.env["TINKER_WIRE_MODEL"] ?? "";
  const start = (): Promise<WireServer> =>
    Promise.resolve({ url, key, baseModel, [Symbol.asyncDispose]: () => Promise.resolve() });
  return [{ name: url, start, isLive: false }];
}

export const wireServers: readonly WireServerKind[] = [ours, skyrl, ...named()];
