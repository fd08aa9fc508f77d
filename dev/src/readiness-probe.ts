// Polls a condition until it holds or a timeout passes.
import { setTimeout as sleep } from "node:timers/promises";

/** True as soon as `probe` returns true; false after `seconds`, or as soon as `isOver` returns true. */
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

/** Whether the URL responds with 2xx. Default: a GET request. */
export async function respondsOk(url: string, request: RequestInit = {}): Promise<boolean> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
