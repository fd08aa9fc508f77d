// What one turn of the archive needs, at a simulated time, on a real database and a real directory.
import { connectDatabase } from "../../src/db/connect.ts";
import { createAssetStore } from "../../src/files/storage/asset-store.ts";
import { createDiskStorage } from "../../src/files/storage/disk-storage.ts";
import { createCrashPoint } from "../../src/observe/crash-points.ts";
import type { ArchiveDependencies } from "../../src/runs/upkeep/archive.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createTestRuntime } from "../support/test-runtime.ts";

export const ARCHIVE_AFTER_DAYS = 30;

export function createArchiveServices(databaseUrl: string, folder: string, { isCrashing = false } = {}) {
  const clock = createManualClock();
  const database = connectDatabase({ DATABASE_URL: databaseUrl, DATABASE_POOL: 4 });
  const services: ArchiveDependencies = {
    ...createTestRuntime({ clock }),
    database,
    assets: createAssetStore(
      createDiskStorage(folder),
      { sign: () => "", verify: () => false },
      "https://gesso.example",
    ),
    crashPoint: createCrashPoint({ CRASH_AT: isCrashing ? "archive_written" : undefined }),
    settings: { archiveAfterDays: ARCHIVE_AFTER_DAYS },
  };
  return { services, clock, database };
}
