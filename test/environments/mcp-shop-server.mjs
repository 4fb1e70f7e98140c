/** A small shop as an MCP server, with the official SDK: tools that read, change, fail, and never say the same. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const prices = { shoes: 80, hat: 25, scarf: 15 };
const text = (value) => ({
  content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }],
});
const reads = { readOnlyHint: true };

/** One with an empty cart. */
export function createShop() {
  const cart = [];
  const server = new McpServer({ name: "shop", version: "1" });
  server.registerTool(
    "list_products",
    { description: "Lists the products.", annotations: reads },
    () => text(Object.keys(prices).map((product) => ({ product }))),
  );
  server.registerTool(
    "get_price",
    {
      description: "The price of a product.",
      inputSchema: { product: z.string() },
      annotations: reads,
    },
    ({ product }) => {
      if (prices[product] === undefined) throw new Error(`There is no ${product}.`);
      return text(String(prices[product]));
    },
  );
  server.registerTool(
    "multiply",
    {
      description: "Multiplies two numbers.",
      inputSchema: { a: z.number().min(2).max(9), b: z.number() },
      annotations: reads,
    },
    ({ a, b }) => text(String(a * b)),
  );
  server.registerTool(
    "add_to_cart",
    {
      description: "Adds a product to the cart.",
      inputSchema: { product: z.enum(["shoes", "hat", "scarf"]), count: z.int().min(1).max(5) },
    },
    ({ product, count }) => {
      cart.push({ product, count });
      return text(`${cart.length} entries`);
    },
  );
  server.registerTool("show_cart", { description: "The cart.", annotations: reads }, () =>
    text(cart),
  );
  server.registerTool("now", { description: "A number.", annotations: reads }, () =>
    text(String(process.hrtime.bigint())),
  );
  server.registerTool(
    "close_shop",
    { description: "Closes the shop.", annotations: { destructiveHint: true } },
    () => text("closed"),
  );

  return server;
}

/** Over HTTP: each session has a shop. */
export async function serveShop() {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      await createShop().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${http.address().port}/mcp`,
    close() {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(resolve));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await createShop().connect(new StdioServerTransport());
