// Checks PostgreSQL, Restate and storage with real requests, each with a timeout.
import type { z } from "zod";
import { connectDatabase, type DatabaseEnv } from "../db/connect.ts";
import { createStorage, type StorageEnv } from "../files/storage/create-storage.ts";
import type { Clock } from "../runtime/clock.ts";
import type { TimedSendRequest } from "./check-provider.ts";
import type { DoctorCheck } from "./report.ts";

export type DependencySettings = z.output<typeof DatabaseEnv> &
  StorageEnv & {
    RESTATE_INGRESS_URL: string;
    RESTATE_ADMIN_URL: string;
    GESSO_SECRET: string;
    GESSO_ACCEPTED_SECRETS: string[];
  };

const SECONDS = 5;

export const checkDependencies = (
  settings: DependencySettings,
  send: TimedSendRequest,
  clock: Clock,
): Promise<DoctorCheck[]> =>
  Promise.all([
    runDependencyCheck(
      clock,
      { name: "postgresql", message: "reachable", fix: "start it, or correct DATABASE_URL" },
      () => pingDatabase(settings),
    ),
    runDependencyCheck(
      clock,
      { name: "restate", message: "reachable", fix: "start it, or correct RESTATE_INGRESS_URL and RESTATE_ADMIN_URL" },
      () => pingEngine(settings, send),
    ),
    runDependencyCheck(
      clock,
      { name: "storage", message: "write and read work", fix: `correct ${storageSettings(settings)}` },
      () => createStorage(settings, clock).maintenance.checkReady(),
    ),
  ]);

const storageSettings = ({ STORAGE }: DependencySettings) => (STORAGE === "disk" ? "STORAGE_DIR" : "the S3_ settings");

type CheckTexts = { name: string; message: string; fix: string };

async function runDependencyCheck(
  clock: Pick<Clock, "after">,
  { name, message, fix }: CheckTexts,
  work: () => Promise<void>,
): Promise<DoctorCheck> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = clock.after(SECONDS * 1000, () => reject(new Error(`no response within ${SECONDS} s`)));
  try {
    await Promise.race([work(), late]);
    return { name, status: "pass", message };
  } catch (thrown) {
    return { name, status: "fail", message: `failed: ${rootCauseMessage(thrown)}`, fix };
  } finally {
    timer.stop();
  }
}

/** The message of the innermost cause; outer errors only say that something failed. */
export function rootCauseMessage(thrown: unknown): string {
  const { cause, code, message } = thrown as { cause?: unknown; code?: unknown; message?: string };
  if (cause instanceof Error) return rootCauseMessage(cause);
  if (typeof cause === "string") return cause;
  return String(message || code || "unknown reason").split("\n")[0]!;
}

async function pingDatabase(settings: DependencySettings): Promise<void> {
  // Before the first start, the database roles do not exist yet.
  const database = connectDatabase(settings, null);
  try {
    await database.ping();
  } finally {
    await database.close();
  }
}

async function pingEngine(settings: DependencySettings, send: TimedSendRequest): Promise<void> {
  const urls = [
    ...settings.RESTATE_INGRESS_URL.split(",").map((url) => `${url}/restate/health`),
    ...settings.RESTATE_ADMIN_URL.split(",").map((url) => `${url}/health`),
  ];
  for (const url of urls) {
    const { status } = await send(url, { method: "GET", headers: {}, timeoutSeconds: SECONDS });
    if (status >= 300) throw new Error(`${new URL(url).origin} returned HTTP ${status}`);
  }
}
