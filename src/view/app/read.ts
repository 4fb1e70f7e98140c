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
  readonly value: T | null;
  readonly error: string | null;
}

async function readJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new Error("the viewer does not answer. Is agent-trainer view still running?");
  });
  if (response.ok) return response.json();
  const text = await response.text();
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
  const [reading, setReading] = useState<Read<T>>({ url: null, value: null, error: null });
  useEffect(() => {
    if (url === null) return undefined;
    const controller = new AbortController();
    readJson(url, controller.signal).then(
      (value) => setReading({ url, value: value as T, error: null }),
      (error: Error) => {
        if (!controller.signal.aborted) setReading({ url, value: null, error: error.message });
      },
    );
    return () => controller.abort();
  }, [url, stamp]);
  const isLoading = url !== null && reading.url !== url;
  return isLoading ? { value: null, error: null, isLoading } : { ...reading, isLoading };
}

/** A text for each run that changes when it writes. */
export function useLive(): ReadonlyMap<number, string> {
  const [stamps, setStamps] = useState<ReadonlyMap<number, string>>(new Map());
  useEffect(() => {
    const source = new EventSource("/api/live");
    source.addEventListener("change", (event: MessageEvent<string>) => {
      const { key, stamp } = JSON.parse(event.data) as { key: number; stamp: string };
      setStamps((before) => new Map(before).set(key, stamp));
    });
    return () => source.close();
  }, []);
  return stamps;
}
