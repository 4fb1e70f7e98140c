/** JSON requests to a server's own routes, some at a time. */

/** As many requests at a time as keep a server busy. */
const parallel = 32;

export async function requestJson(
  url: string,
  init: { readonly method?: string; readonly token?: string; readonly body?: object } = {},
): Promise<unknown> {
  const { method = "GET", token, body } = init;
  const response = await fetch(url, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as unknown;
}

/** `work` for each of `items`, in order of the results. */
export async function inParallel<Item, Out>(
  items: readonly Item[],
  work: (item: Item) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  const rest = [...items.entries()].values();
  const worker = async (): Promise<void> => {
    for (const [i, item] of rest) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}
