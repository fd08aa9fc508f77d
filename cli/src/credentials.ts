// The credentials file of `gesso login`: one server and API key per profile. The file is always written whole, and only
// its owner can read it.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { commandError } from "./command-error.ts";

const DEFAULT_PROFILE = "default";
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const OTHERS = 0o077;

/** `key_id`: the key was created by signing in at an identity provider, so `gesso logout` revokes it. */
export type Profile = { url: string; key: string; key_id?: string };
type Profiles = Record<string, Profile>;

export const credentialsPath = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "gesso", "credentials.json");

/** The profile of `--profile` or GESSO_PROFILE, otherwise the default one. */
export function selectProfileName(flag: string | undefined): string {
  const name = flag ?? (process.env.GESSO_PROFILE || DEFAULT_PROFILE);
  if (!PROFILE_NAME.test(name))
    throw commandError("usage", `Invalid profile name. Use 1 to 64 letters, digits, dots, hyphens or underscores.`);
  return name;
}

export const findProfile = (name: string): Profile | undefined => readProfiles()[name];

export const listProfileNames = (): string[] => Object.keys(readProfiles());

export function saveProfile(name: string, profile: Profile): void {
  writeProfiles({ ...readProfiles(), [name]: profile });
}

export function removeProfile(name: string): void {
  const { [name]: _, ...others } = readProfiles();
  if (Object.keys(others).length > 0) writeProfiles(others);
  else rmSync(credentialsPath(), { force: true });
}

function readProfiles(): Profiles {
  const path = credentialsPath();
  let text: string;
  try {
    const { mode } = statSync(path);
    if (process.platform !== "win32" && (mode & OTHERS) !== 0)
      throw commandError("auth", `Other users can read ${path}. Run chmod 600 on it, then try again.`);
    text = readFileSync(path, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw thrown;
  }
  const profiles = parseProfiles(text);
  if (!profiles) throw commandError("auth", `${path} is not a credentials file. Delete it, then run gesso login.`);
  return profiles;
}

function parseProfiles(text: string): Profiles | undefined {
  try {
    const { profiles } = JSON.parse(text) as { profiles: Profiles };
    const isValid = Object.values(profiles).every(
      (each) => typeof each?.url === "string" && typeof each.key === "string",
    );
    // A null prototype: no profile is found by the name of a property of every object, such as "constructor".
    return isValid ? Object.assign(Object.create(null), profiles) : undefined;
  } catch {
    return undefined;
  }
}

function writeProfiles(profiles: Profiles): void {
  const path = credentialsPath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
