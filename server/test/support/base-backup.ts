// A base backup of a running PostgreSQL. pg_basebackup is not among the installed binaries; this is the low-level
// backup that it performs itself.
import { execFileSync } from "node:child_process";
import { chownSync, cpSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

/** `signal`: the file that says what a server does with the copy when it starts. */
export async function takeBaseBackup(
  url: string,
  { from, to, signal }: { from: string; to: string; signal: "standby.signal" | "recovery.signal" },
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('base', true)");
    mkdirSync(to, { recursive: true });
    cpSync(join(from, "password"), join(to, "password"), { preserveTimestamps: true });
    // `cp -a` also keeps the owner: as root, PostgreSQL runs under another account.
    execFileSync("cp", ["-a", join(from, "data"), join(to, "data")]);
    rmSync(join(to, "data", "postmaster.pid"), { force: true });
    const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
    const owner = statSync(join(to, "data"));
    for (const [name, text] of Object.entries({ backup_label: rows[0].labelfile, [signal]: "" })) {
      writeFileSync(join(to, "data", name), text);
      chownSync(join(to, "data", name), owner.uid, owner.gid);
    }
  } finally {
    await client.end();
  }
}
