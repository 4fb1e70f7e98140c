/** Watches a response's body as it passes: for an id in it, and for its end. */

export interface BodyWatch {
  /** Its first group is the id, looked for at the beginning; null for none. */
  readonly id: RegExp | null;
  /** Called before the client can know the id. */
  readonly onId: (id: string) => void;
  /** Called once: at the end, at an error, or when the client has gone. */
  readonly onEnd: () => void;
}

/** An id is in the first event of a stream, and in the first fields of an object. */
const longestHead = 65_536;

/** The same response, watched. */
export function endOfBody(response: Response, { id, onId, onEnd }: BodyWatch): Response {
  const { body, status, headers } = response;
  if (body === null) {
    onEnd();
    return response;
  }
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let head: string | null = id === null || status !== 200 ? null : "";
  const look = (chunk: Uint8Array): void => {
    if (head === null) return;
    head += decoder.decode(chunk, { stream: true });
    const found = id?.exec(head)?.[1];
    if (found !== undefined) onId(found);
    if (found !== undefined || head.length > longestHead) head = null;
  };
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          onEnd();
          controller.close();
          return;
        }
        look(value);
        controller.enqueue(value);
      } catch (error) {
        onEnd();
        controller.error(error);
      }
    },
    async cancel(reason) {
      await reader.cancel(reason);
      onEnd();
    },
  });
  return new Response(watched, { status, headers });
}
