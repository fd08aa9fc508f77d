// A fresh directory for each test, open to the user that PostgreSQL runs as, and everything started in it ended after.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "gesso-test-"));
  chmodSync(directory, 0o755);
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Called in the reverse order of use, so a part is gone before its directory is removed. */
export function killAfterTest<Killable extends { kill(): Promise<void> }>(part: Killable): Killable {
  onTestFinished(() => part.kill());
  return part;
}
