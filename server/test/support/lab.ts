// The lab: shared services that stay up between test runs. A test run uses it if it has the schema of this checkout,
// and otherwise starts its own.
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../..");
const FILE = join(ROOT, "node_modules/.cache/gesso-lab.json");

type Lab = { url: string; schema: string; browser: string | undefined };

/** The digest of what the databases of a lab are made of. */
function digestSchema(): string {
  const digest = createHash("sha256");
  for (const path of [...globSync("server/migrations/*.sql", { cwd: ROOT }).sort(), "package-lock.json"])
    digest.update(`${path}\0`).update(readFileSync(join(ROOT, path)));
  return digest.digest("hex");
}

/** The lab that runs, if it fits. CI never uses one. */
export async function findLab(): Promise<Lab | undefined> {
  if (process.env.CI) return undefined;
  try {
    const lab = JSON.parse(readFileSync(FILE, "utf8")) as Lab;
    if (lab.schema !== digestSchema()) return undefined;
    await fetch(lab.url, { method: "HEAD", signal: AbortSignal.timeout(1000) });
    return lab;
  } catch {
    return undefined;
  }
}

/** Lets test runs find the lab; returns what hides it again. */
export function announceLab(url: string, browser: string | undefined): () => void {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify({ url, browser, schema: digestSchema() } satisfies Lab));
  return () => rmSync(FILE, { force: true });
}
