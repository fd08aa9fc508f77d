// Asks again and again until something is so, and never for ever.
import { setTimeout as sleep } from "node:timers/promises";

/** True as soon as `probe` is true; false when the time is over or `isOver` says that waiting is pointless. */
export async function waitUntil(
  probe: () => Promise<boolean>,
  seconds: number,
  isOver: () => boolean = () => false,
): Promise<boolean> {
  const end = performance.now() + seconds * 1000;
  while (!isOver()) {
    if (await probe()) return !isOver();
    if (performance.now() > end) return false;
    await sleep(40);
  }
  return false;
}

/** Whether a request, a GET unless told, is answered with a 2xx. */
export async function respondsOk(url: string, request: RequestInit = {}): Promise<boolean> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
