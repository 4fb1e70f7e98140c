/** Who may read: a token in the first URL becomes a cookie; and what a page may load: nothing else. */
import type { Context, MiddlewareHandler } from "hono";
import { isSameToken } from "../../http/keys.ts";
import { isLocalName, isLoopback } from "../../http/local-clients.ts";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Ports of one host share their cookies, so the name has the port. */
function cookieName(context: Context): string {
  const port = new URL(context.req.url).port;
  return `agent_trainer_view_${port}`;
}

/** Names by which a loopback server may be asked; another one is a page that rebinds its name. */
function isKnownHost(context: Context, host: string): boolean {
  return !isLoopback(host) || isLocalName(new URL(context.req.url).hostname);
}

export function requireToken(token: string, host: string): MiddlewareHandler {
  return async (context, next) => {
    context.header("content-security-policy", contentPolicy);
    context.header("x-content-type-options", "nosniff");
    context.header("referrer-policy", "no-referrer");
    context.header("cross-origin-resource-policy", "same-origin");
    context.header("cache-control", "no-store");
    if (!isKnownHost(context, host)) return context.text("This host name is not served.\n", 421);
    if (context.req.method !== "GET") return context.text("The viewer only reads.\n", 405);
    const name = cookieName(context);
    const given = context.req.query("token");
    if (given !== undefined) {
      if (!isSameToken(given, token)) {
        deleteCookie(context, name);
        return context.text(
          "The token is another one. Use the URL that the viewer printed.\n",
          403,
        );
      }
      setCookie(context, name, token, { httpOnly: true, sameSite: "Strict", path: "/" });
      return context.redirect("/");
    }
    const cookie = getCookie(context, name) ?? "";
    const bearer = /^Bearer (.+)$/u.exec(context.req.header("authorization") ?? "")?.[1] ?? "";
    if (!isSameToken(cookie, token) && !isSameToken(bearer, token))
      return context.text("Open the URL that the viewer printed: it has the token.\n", 401);
    return next();
  };
}
