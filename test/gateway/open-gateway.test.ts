/** A gateway that asks for no tokens, and sessions as clients of other gateways name them. */
import { request as sendHttp } from "node:http";
import { describe, expect, it } from "vitest";
import { createGateway, type GatewayOptions } from "../../src/gateway/index.ts";
import {
  createByteRenderer,
  createScriptedTarget,
  createUpstream,
} from "../../src/testing/index.ts";
import { createTestGateway, origin, userSays, type WireTrace } from "./function-client.ts";
import { openWorld } from "./http-world.ts";

const body = JSON.stringify({ messages: [userSays("q")] });

async function listen(options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({
    target: createScriptedTarget(() => "ok"),
    model: "m",
    open: true,
    ...options,
  });
  const { url } = await gateway.listen();
  return { gateway, url, [Symbol.asyncDispose]: () => gateway.close() };
}

function post(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: "POST", body, headers });
}

describe("an open gateway", () => {
  it("asks for no token, and opens a session with its first call", async () => {
    await using world = await listen();
    expect((await post(`${world.url}/sessions/a%2Fb/v1/chat/completions`)).status).toBe(200);
    const traces = (await (
      await fetch(`${world.url}/sessions/a%2Fb/traces`)
    ).json()) as WireTrace[];
    expect(traces).toHaveLength(1);
    expect((await fetch(`${world.url}/metrics`)).status).toBe(200);
  });

  it("draws as a session does that was opened under the same id", async () => {
    const seeds: unknown[] = [];
    for (const isExplicit of [false, true]) {
      await using world = await listen();
      const opened = { method: "POST", body: JSON.stringify({ session_id: "x" }) };
      if (isExplicit) await fetch(`${world.url}/sessions`, opened);
      await post(`${world.url}/sessions/x/v1/chat/completions`);
      const traces = (await (await fetch(`${world.url}/sessions/x/traces`)).json()) as WireTrace[];
      seeds.push(traces[0]?.sampling_params["seed"]);
    }
    expect(seeds[0]).toEqual(expect.any(Number));
    expect(seeds[0]).toBe(seeds[1]);
  });

  it("answers no page that a browser shows", async () => {
    await using world = await listen();
    const { port } = new URL(world.url);
    const path = "/sessions/x/v1/chat/completions";
    const foreign = await post(world.url + path, { origin: "https://evil.example" });
    expect(foreign.status).toBe(403);
    expect(await foreign.text()).toContain("Origin header");
    // A name of the attacker's that was made to mean this machine.
    const rebound = await new Promise<number | undefined>((resolve, reject) => {
      const request = sendHttp({
        host: "127.0.0.1",
        port,
        path,
        method: "POST",
        headers: { host: "evil.example" },
      });
      request.on("response", (response) => resolve(response.resume().statusCode));
      request.on("error", reject);
      request.end(body);
    });
    expect(rebound).toBe(403);
    for (const host of ["127.0.0.1", "localhost"]) {
      expect((await post(`http://${host}:${port}${path}`)).status).toBe(200);
    }
  });

  it("listens on this machine's own address only", async () => {
    const gateway = createGateway({
      target: createScriptedTarget(() => "ok"),
      model: "m",
      open: true,
      adminToken: "chosen",
    });
    await expect(gateway.listen({ host: "0.0.0.0" })).rejects.toThrow(/requires no tokens/);
    await gateway.close();
  });

  it("is not what a gateway is by default", async () => {
    await using world = await listen({ open: false });
    expect((await post(`${world.url}/sessions/x/v1/chat/completions`)).status).toBe(401);
    expect((await fetch(`${world.url}/sessions`)).status).toBe(401);
  });
});

describe("a slash in a session's id", () => {
  it("may be written as it is, or escaped", async () => {
    const { gateway, admin } = createTestGateway(() => "ok");
    for (const uid of ["task/1:0", "a/v2/b", "/", "a//b", "traces", "x/traces"]) {
      const opened = (await (await admin("POST", "/sessions", { session_id: uid })).json()) as {
        url: string;
        api_key: string;
      };
      const headers = { authorization: `Bearer ${opened.api_key}` };
      const call = (url: string): Promise<Response> =>
        gateway.fetch(new Request(`${url}/chat/completions`, { method: "POST", headers, body }));
      expect((await call(opened.url)).status).toBe(200);
      const escaped = `/sessions/${encodeURIComponent(uid)}`;
      expect(await (await admin("GET", `${escaped}/traces`)).json()).toHaveLength(1);
      expect(await (await admin("GET", escaped)).json()).toMatchObject({ session_id: uid });
      await admin("DELETE", escaped);
    }
    const opened = (await (
      await admin("POST", "/sessions", { session_id: "task/1:0" })
    ).json()) as {
      api_key: string;
    };
    const headers = { authorization: `Bearer ${opened.api_key}` };
    const raw = new Request(`${origin}/sessions/task/1:0/trajectories/t/v1/chat/completions`, {
      method: "POST",
      headers,
      body,
    });
    expect((await gateway.fetch(raw)).status).toBe(200);
    const traces = (await (await admin("GET", "/sessions/task/1:0/traces")).json()) as WireTrace[];
    expect(traces.map(({ trajectory_id: id }) => id)).toEqual(["t"]);
    expect(await (await admin("GET", "/sessions/task/1:0")).json()).toMatchObject({
      trace_count: 1,
    });
    expect(await (await admin("DELETE", "/sessions/task/1:0")).json()).toEqual({ deleted: 1 });
  });

  it("leaves the names of trajectories as they are", async () => {
    const { gateway, admin } = createTestGateway(() => "ok");
    const opened = (await (await admin("POST", "/sessions", { session_id: "v1" })).json()) as {
      api_key: string;
    };
    const headers = { authorization: `Bearer ${opened.api_key}` };
    for (const name of ["v1", "trajectories", "sessions"]) {
      const url = `${origin}/sessions/v1/trajectories/${name}/v1/chat/completions`;
      const call = new Request(url, { method: "POST", headers, body });
      expect((await gateway.fetch(call)).status).toBe(200);
    }
    const traces = (await (await admin("GET", "/sessions/v1/traces")).json()) as WireTrace[];
    expect(traces.map(({ trajectory_id: id }) => id)).toEqual(["v1", "trajectories", "sessions"]);
  });

  it("opens nothing that another session's token does not", async () => {
    const { gateway, admin } = createTestGateway(() => "ok");
    const keyOf = async (uid: string): Promise<string> =>
      (
        (await (await admin("POST", "/sessions", { session_id: uid })).json()) as {
          api_key: string;
        }
      ).api_key;
    const mine = await keyOf("a");
    await keyOf("a/b");
    const headers = { authorization: `Bearer ${mine}` };
    for (const path of [
      "/sessions/a/b/v1/chat/completions",
      "/sessions/a%2Fb/v1/chat/completions",
    ]) {
      const call = new Request(origin + path, { method: "POST", headers, body });
      expect((await gateway.fetch(call)).status).toBe(401);
    }
    for (const path of ["/sessions/a/b/traces", "/sessions/a/b", "/sessions/a/b/c/traces"]) {
      expect((await gateway.fetch(new Request(origin + path, { headers }))).status).toBe(401);
    }
  });
});

it("a trace's version of the weights is null while nobody told it, as the route says", async () => {
  await using upstream = await createUpstream({ script: () => "ok" });
  for (const tokenMode of ["server", "cumulative"] as const) {
    const own = tokenMode === "server" ? {} : { renderer: createByteRenderer() };
    await using world = await openWorld({ workers: [{ url: upstream.url }], tokenMode, ...own });
    const version = { weight_version: null };
    expect(await world.admin("GET", "/admin/weight_version")).toEqual(version);
    await world.post({ messages: [userSays("q")] });
    await world.admin("POST", "/admin/weight_version", { weight_version: 0 });
    await world.post({ messages: [userSays("q")] });
    expect(await world.admin("GET", "/sessions/s/traces")).toMatchObject([
      version,
      { weight_version: 0 },
    ]);
  }
});
