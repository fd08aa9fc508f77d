// Waits for what another process, a socket or a server does. It has no limit of its own: a test that waits in vain ends
// by the limit of the test runner, so a slow machine is not a failure.
import { setTimeout as pause } from "node:timers/promises";

const POLL_MS = 10;

export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await pause(POLL_MS);
}
