// A temporary directory for each test, readable for the user that PostgreSQL runs as, and cleanup of started processes.
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

/** Cleanup runs in reverse order of registration, so a component is killed before its directory is removed. */
export function killAfterTest<Killable extends { kill(): Promise<void> }>(component: Killable): Killable {
  onTestFinished(() => component.kill());
  return component;
}
