/** Reads from the viewer's server, again whenever the run has written something. */
import { useEffect, useState } from "preact/hooks";

export interface Reading<T> {
  /** Null while it is being read, and where there is an error. */
  readonly value: T | null;
  readonly error: string | null;
  /** Nothing has been read from this address yet. */
  readonly isLoading: boolean;
}

interface Read<T> {
  readonly url: string | null;
  /** As it came. */
  readonly text: string;
  readonly value: T | null;
  readonly error: string | null;
}

async function readText(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new Error("the viewer does not answer. Is agent-trainer view still running?");
  });
  const text = await response.text();
  if (response.ok) return text;
  let message = text;
  try {
    message = (JSON.parse(text) as { error: string }).error;
  } catch {
    // Plain text.
  }
  throw new Error(message);
}

/** @param stamp what the value depends on besides its address */
export function useRead<T>(url: string | null, stamp: string | number = ""): Reading<T> {
  const [reading, setReading] = useState<Read<T>>({
    url: null,
    text: "",
    value: null,
    error: null,
  });
  useEffect(() => {
    if (url === null) return undefined;
    const controller = new AbortController();
    // What is the same is not rendered again, and what is there stays until there is something newer.
    readText(url, controller.signal).then(
      (text) =>
        setReading((before) =>
          before.url === url && before.text === text
            ? before
            : { url, text, value: JSON.parse(text) as T, error: null },
        ),
      (error: Error) => {
        if (controller.signal.aborted) return;
        setReading((before) =>
          before.url === url && before.value !== null
            ? before
            : { url, text: "", value: null, error: error.message },
        );
      },
    );
    return () => controller.abort();
  }, [url, stamp]);
  const isLoading = url !== null && reading.url !== url;
  return isLoading
    ? { value: null, error: null, isLoading }
    : { value: reading.value, error: reading.error, isLoading };
}

export interface Live {
  /** A text for each run that changes when it writes. */
  readonly stamps: ReadonlyMap<number, string>;
  readonly isConnected: boolean;
  /** The first news are there, or do not come: what is read before them is read twice. */
  readonly isReady: boolean;
}

/** How long the first news are waited for. */
const patienceMs = 500;

export function useLive(): Live {
  const [stamps, setStamps] = useState<ReadonlyMap<number, string>>(new Map());
  const [isConnected, setConnected] = useState(true);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), patienceMs);
    const source = new EventSource("/api/live");
    source.addEventListener("open", () => setConnected(true));
    source.addEventListener("error", () => {
      setConnected(false);
      setReady(true);
    });
    source.addEventListener("change", (event: MessageEvent<string>) => {
      const { key, stamp } = JSON.parse(event.data) as { key: number; stamp: string };
      setStamps((before) => new Map(before).set(key, stamp));
      setReady(true);
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, []);
  return { stamps, isConnected, isReady };
}
