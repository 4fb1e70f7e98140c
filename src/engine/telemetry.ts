/**
 * The runtime's official builds, from 1.29 on, write a device id into the user's cache folder and queue
 * events for its maker, unless this variable says otherwise before they are loaded.
 */

/**
 * A value set by the user is kept. Call it in the main thread: what a worker thread sets, native code
 * does not see.
 */
export function turnTelemetryOff(): void {
  process.env["ORT_DISABLE_TELEMETRY"] ??= "1";
}
