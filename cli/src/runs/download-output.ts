// Downloads a file of a run. A file that does not match its hash, as after a lost connection, is downloaded again.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Output } from "@gesso/client";
import { commandError } from "../exit-codes.ts";

const ATTEMPTS = 4;
const PAUSE_MS = 250;
const TIMEOUT_MS = 150_000;

export async function downloadOutput({ url, sha256 }: Pick<Output, "url" | "sha256">): Promise<Buffer> {
  let reason = "";
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt > 1) await sleep(PAUSE_MS * attempt);
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      const bytes = Buffer.from(await response.arrayBuffer());
      if (response.ok && createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
      reason = response.ok ? "the file is incomplete" : `HTTP ${response.status}`;
      if (response.status === 404 || response.status === 410) break;
    } catch (thrown) {
      reason = (thrown as Error).message;
    }
  }
  throw commandError("failed", `Cannot download ${url}: ${reason}.`);
}
