// `gesso logout`: removes a profile from this machine. A key that `gesso login` created at an identity provider is
// revoked too, without the keys created with it. A key that was pasted stays valid, because other programs may use it.
import { Command } from "commander";
import { createCliClient } from "../connection.ts";
import { findProfile, listProfileNames, type Profile, removeProfile, selectProfileName } from "../credentials.ts";
import { commandError, runCommand } from "../exit-codes.ts";

type Flags = { profile?: string; all?: boolean };

export function logoutCommand(): Command {
  return new Command("logout")
    .option("--profile <name>", "profile to remove (default: GESSO_PROFILE, or default)")
    .option("--all", "remove all profiles")
    .action(async (flags: Flags) => {
      process.exitCode = await runCommand(
        "gesso logout",
        () => ({ url: "" }),
        () => logout(flags),
      );
    });
}

async function logout(flags: Flags): Promise<number> {
  const names = flags.all ? listProfileNames() : [selectProfileName(flags.profile)];
  for (const name of names) {
    const profile = findProfile(name);
    if (!profile) throw commandError("missing", `There is no profile ${name}. Nothing was removed.`);
    const outcome = await revoke(profile);
    removeProfile(name);
    process.stderr.write(`Removed profile ${name}. ${outcome}\n`);
  }
  if (names.length === 0) process.stderr.write("There are no profiles.\n");
  return 0;
}

/** The profile is removed in any case: a server that is gone must not keep people signed in. */
async function revoke({ url, key, key_id }: Profile): Promise<string> {
  if (!key_id) return `Its API key stays valid. To revoke it, use the console at ${url}/console or gesso keys revoke.`;
  try {
    await createCliClient({ url, key }).keys.revoke(key_id, { keep_children: true });
    return "Its API key is revoked.";
  } catch {
    return `${url} did not revoke its API key ${key_id}. Revoke it in the console.`;
  }
}
