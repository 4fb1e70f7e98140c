/**
 * A model hub on this machine, with the routes and headers of huggingface.co: small files are answered
 * by the hub, large ones by a second origin that it redirects to.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const commit = "0123456789abcdef0123456789abcdef01234567";

export interface SeenRequest {
  readonly origin: "hub" | "storage";
  readonly method: string;
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

/** What a request gets instead of its file. */
export type Trouble = (request: SeenRequest, response: ServerResponse) => boolean;

export class StandInHub implements AsyncDisposable {
  /** By name; those of `large` are kept apart, as with Git LFS. */
  readonly files = new Map<string, Buffer>();
  readonly large = new Set<string>();
  readonly requests: SeenRequest[] = [];
  /** Other branches, with files of their own. */
  readonly branches = new Map<string, { commit: string; files: ReadonlyMap<string, Buffer> }>();
  repository = "owner/model";
  revisions = new Set(["main", commit]);
  trouble: Trouble = () => false;
  readonly #servers: Server[];
  url = "";
  #storage = "";

  constructor() {
    this.#servers = [
      createServer((request, response) => this.#hub(request, response)),
      createServer((request, response) => this.#serveStorage(request, response)),
    ];
  }

  async listen(): Promise<void> {
    for (const server of this.#servers)
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const [hub, storage] = this.#servers.map(
      (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    this.url = hub!;
    this.#storage = storage!;
  }

  /** Requests for file contents, since the last call. */
  takeDownloads(): SeenRequest[] {
    return this.requests
      .splice(0)
      .filter(({ method, path }) => method === "GET" && !path.startsWith("/api/"));
  }

  #see(origin: "hub" | "storage", { method, url, headers }: IncomingMessage): SeenRequest {
    const seen: SeenRequest = {
      origin,
      method: method ?? "",
      path: decodeURIComponent(url ?? ""),
      range: headers.range,
      authorization: headers.authorization,
    };
    this.requests.push(seen);
    return seen;
  }

  #hub(request: IncomingMessage, response: ServerResponse): void {
    const seen = this.#see("hub", request);
    if (this.trouble(seen, response)) return;
    const revision = new RegExp(
      `^/api/(?:models|datasets)/${this.repository}/revision/(.+)$`,
      "u",
    ).exec(seen.path);
    if (revision !== null) {
      const branch = this.branches.get(revision[1]!);
      if (branch === undefined && !this.revisions.has(revision[1]!))
        return fail(response, 404, "RevisionNotFound");
      const { commit: sha, files } = branch ?? { commit, files: this.files };
      const siblings = Array.from(files.keys(), (rfilename) => ({ rfilename }));
      response.end(JSON.stringify({ id: this.repository, sha, siblings }));
      return;
    }
    const branches = [...this.branches.values()];
    const revisions = [...this.revisions, ...branches.map(({ commit: sha }) => sha)].join("|");
    const route = `^(?:/datasets)?/${this.repository}/resolve/(${revisions})/(.+)$`;
    const [, at, ...file] = new RegExp(route, "u").exec(seen.path) ?? [];
    if (at === undefined) return fail(response, 404, "RepoNotFound");
    const branch = branches.find(({ commit: sha }) => sha === at);
    const content = (branch?.files ?? this.files).get(file[0]!);
    if (content === undefined) return fail(response, 404, "EntryNotFound");
    response.setHeader("x-repo-commit", commit);
    if (!this.large.has(file[0]!)) {
      const git = createHash("sha1")
        .update(`blob ${content.length}\0`)
        .update(content)
        .digest("hex");
      response.setHeader("etag", `W/"${git}"`);
      sendContent(seen, response, content);
      return;
    }
    response.setHeader("x-linked-etag", `"${createHash("sha256").update(content).digest("hex")}"`);
    response.setHeader("x-linked-size", content.length);
    response.setHeader("location", `${this.#storage}/${file[0]!}?signature=1`);
    response.writeHead(302).end();
  }

  #serveStorage(request: IncomingMessage, response: ServerResponse): void {
    const seen = this.#see("storage", request);
    if (this.trouble(seen, response)) return;
    sendContent(seen, response, this.files.get(seen.path.slice(1).split("?")[0]!)!);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "x-error-code": code }).end();
}

export function sendContent(
  { method, range }: SeenRequest,
  response: ServerResponse,
  content: Buffer,
): void {
  const start = Number(/^bytes=(\d+)-$/u.exec(range ?? "")?.[1] ?? 0);
  const rest = content.subarray(start);
  response.setHeader("content-length", rest.length);
  if (range !== undefined) {
    response.statusCode = 206;
    response.setHeader("content-range", `bytes ${start}-${content.length - 1}/${content.length}`);
  }
  response.end(method === "HEAD" ? undefined : rest);
}
