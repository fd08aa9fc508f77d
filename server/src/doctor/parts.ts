// Whether the parts that the server stands on are there: each is really tried, and none is waited for long.
import type { z } from "zod";
import { connect, type DatabaseEnv } from "../db/connect.ts";
import { openStorage, type StorageEnv } from "../media/open-storage.ts";
import type { Line } from "./examine.ts";
import type { Check } from "./report.ts";

export type PartSettings = z.output<typeof DatabaseEnv> &
  StorageEnv & { RESTATE_INGRESS_URL: string; RESTATE_ADMIN_URL: string };

const SECONDS = 5;

export const checkParts = (settings: PartSettings, line: Line): Promise<Check[]> =>
  Promise.all([
    tried("postgresql", { message: "answers", fix: "start it, or correct DATABASE_URL" }, () => askDatabase(settings)),
    tried(
      "restate",
      { message: "answers", fix: "start it, or correct RESTATE_INGRESS_URL and RESTATE_ADMIN_URL" },
      () => askEngine(settings, line),
    ),
    tried("storage", { message: "can be written and read", fix: `correct ${storageSettings(settings)}` }, () =>
      openStorage(settings).ready(),
    ),
  ]);

const storageSettings = ({ STORAGE }: PartSettings) => (STORAGE === "disk" ? "STORAGE_DIR" : "the S3_ settings");

type Words = { message: string; fix: string };

async function tried(name: string, { message, fix }: Words, work: () => Promise<void>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${SECONDS} s`)), SECONDS * 1000);
  });
  try {
    await Promise.race([work(), late]);
    return { name, status: "pass", message };
  } catch (thrown) {
    return { name, status: "fail", message: `does not work: ${reasonOf(thrown)}`, fix };
  } finally {
    clearTimeout(timer);
  }
}

/** The innermost word about it: what stands around is ours and says only that something failed. */
export function reasonOf(thrown: unknown): string {
  const { cause, code, message } = thrown as { cause?: unknown; code?: unknown; message?: string };
  if (cause instanceof Error) return reasonOf(cause);
  if (typeof cause === "string") return cause;
  return String(message || code || "no reason was given").split("\n")[0]!;
}

async function askDatabase(settings: PartSettings): Promise<void> {
  // Before the first start there are no roles to take.
  const database = connect(settings, null);
  try {
    await database.ping();
  } finally {
    await database.close();
  }
}

async function askEngine(settings: PartSettings, line: Line): Promise<void> {
  const urls = [
    ...settings.RESTATE_INGRESS_URL.split(",").map((url) => `${url}/restate/health`),
    `${settings.RESTATE_ADMIN_URL}/health`,
  ];
  for (const url of urls) {
    const { status } = await line(url, { method: "GET", headers: {}, timeoutSeconds: SECONDS });
    if (status >= 300) throw new Error(`${new URL(url).origin} answered ${status}`);
  }
}
