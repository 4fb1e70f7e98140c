/** Serves a built site as GitHub Pages does: below a path, `/page` from `page.html`, 404 for the rest. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};

/** The file for a path below the base; null where there is none. */
export function siteFile(folder: string, path: string): string | null {
  const file = join(folder, decodeURIComponent(path));
  const candidates =
    path.endsWith("/") || path === "" ? [join(file, "index.html")] : [file, `${file}.html`];
  return candidates.find((one) => existsSync(one) && statSync(one).isFile()) ?? null;
}

export interface SiteServer extends AsyncDisposable {
  readonly url: string;
}

export async function startSiteServer(folder: string, base: string): Promise<SiteServer> {
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const file = pathname.startsWith(base) ? siteFile(folder, pathname.slice(base.length)) : null;
    if (file === null) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" });
    return response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${base}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
