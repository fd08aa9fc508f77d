// Writes the secrets of a deployment as files. A file that exists is never changed, so that a second call does not
// lock Gesso out of its own data.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandError } from "../command-error.ts";
import { DEPLOYMENT_SECRETS, type DeploymentSecret } from "./deployment-secrets.ts";

export type WrittenSecret = { name: string; purpose: string; isNew: boolean };

/**
 * Containers run as other users than the owner of the files, and Docker passes the files with their owner and mode. So
 * only the folder is closed to other users of this machine.
 */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o444;

export function writeSecrets(folder: string): WrittenSecret[] {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, FOLDER_MODE);
  const existing = new Map(DEPLOYMENT_SECRETS.map(({ name }) => [name, readIfExists(join(folder, name))]));
  const orphan = DEPLOYMENT_SECRETS.find(
    (secret) => "source" in secret && existing.get(secret.name) !== undefined && !existing.get(secret.source),
  );
  if (orphan && "source" in orphan)
    throw commandError(
      "usage",
      `${join(folder, orphan.name)} exists, but ${orphan.source}, which it belongs to, does not. ` +
        `Restore ${orphan.source}, or remove ${orphan.name}.`,
    );
  return DEPLOYMENT_SECRETS.map((secret) => {
    const { name, purpose } = secret;
    if (existing.get(name) !== undefined) return { name, purpose, isNew: false };
    const value = createValue(secret, existing);
    existing.set(name, value);
    writeFileSync(join(folder, name), `${value.trimEnd()}\n`, { mode: 0o600, flag: "wx" });
    // Not at creation: the umask of the caller would apply.
    chmodSync(join(folder, name), FILE_MODE);
    return { name, purpose, isNew: true };
  });
}

const createValue = (secret: DeploymentSecret, values: ReadonlyMap<string, string | undefined>): string =>
  "create" in secret ? secret.create() : secret.derive((values.get(secret.source) ?? "").trimEnd());

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw commandError("failed", `${path} cannot be read (${(thrown as NodeJS.ErrnoException).code}).`);
  }
}
