// PostgreSQL refuses to run as root. This module chooses the account it runs under instead, and gives that account
// access to the binaries and the data even below a directory such as /root that other users may not enter.
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

export type SystemAccount = { name: string; uid: number; gid: number };

/** A command line, and the `user` to pass to spawn if it must run as another user. */
export type SpawnCommand = { command: string[]; user?: { uid: number; gid: number } };

/** The account to run PostgreSQL as; undefined if this process is not root and PostgreSQL can run as the same user. */
export function chooseAccount(data: string): SystemAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(data, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { name: `user ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  const accounts = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = accounts.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid && gid) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL cannot run as root. Create a user "postgres", or run gesso as another user.');
}

/** The first directory in `path` that the account may not enter. */
function closedDirectory(path: string, account: SystemAccount): string | undefined {
  const directory = resolve(path);
  const above = dirname(directory) === directory ? undefined : closedDirectory(dirname(directory), account);
  if (above) return above;
  const entry = statSync(directory, { throwIfNoEntry: false });
  if (!entry?.isDirectory()) return undefined;
  const shift = entry.uid === account.uid ? 6 : entry.gid === account.gid ? 3 : 0;
  return (entry.mode >> shift) & 1 ? undefined : directory;
}

export function commandAs(account: SystemAccount | undefined, paths: string[], command: string[]): SpawnCommand {
  if (!account) return { command };
  const { uid, gid } = account;
  const closed = paths.map((path) => closedDirectory(path, account)).find((directory) => directory !== undefined);
  if (!closed) return { command, user: { uid, gid } };

  // `npx gesso dev` as root in a container installs the binaries below /root, which other users may not enter. With the
  // capability to traverse directories another user reaches them, and PostgreSQL does not regard that user as root.
  const capability = findTraverseCapability();
  if (capability) {
    // Without the bit, access(2), by which initdb looks for its programs, ignores the capability.
    const keep = ["--securebits=+no_setuid_fixup", `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`];
    return { command: ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...keep, "--", ...command] };
  }
  throw new Error(
    `PostgreSQL cannot run as root, and ${account.name} may not enter ${closed}. ` +
      `Run chmod o+x ${closed}, choose another data directory with --data, or run gesso as another user.`,
  );
}

function findTraverseCapability(): "dac_read_search" | "dac_override" | undefined {
  try {
    const permitted = /^CapPrm:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    const bits = BigInt(`0x${permitted}`);
    if (!hasSetpriv()) return undefined;
    if (bits & 4n) return "dac_read_search";
    return bits & 2n ? "dac_override" : undefined;
  } catch {
    return undefined;
  }
}

function hasSetpriv(): boolean {
  const directories = (process.env.PATH ?? "").split(":");
  return directories.some((directory) => statSync(`${directory}/setpriv`, { throwIfNoEntry: false })?.isFile());
}
