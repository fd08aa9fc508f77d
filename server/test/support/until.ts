// Waits for what another process, a socket or a server does. It has no limit of its own: the limit of the test runner
// ends a test that waits too long, so a slow machine is not a failure.
import { setTimeout as pause } from "node:timers/promises";

const POLL_MS = 10;

export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await pause(POLL_MS);
}
