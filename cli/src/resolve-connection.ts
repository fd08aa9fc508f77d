// Resolves the server URL and the API key: from the flags, the environment, the profile of `gesso login`, or the
// `gesso dev` that runs on this machine. A stored key is only sent to the server it belongs to. Loads no client, so
// that completion is fast.
import { findRunningInstance } from "@gesso/dev/running-instance";
import { commandError } from "./command-error.ts";
import { findProfile, selectProfileName } from "./credentials.ts";

export type ConnectionFlags = { url?: string; key?: string; profile?: string; data?: string };
/** `source`: where the key comes from, in words. */
export type ServerConnection = { url: string; key: string; source: string };

export const DEFAULT_URL = "http://127.0.0.1:7788";
export const DEFAULT_DATA = "./.gesso";

export function resolveConnection(flags: ConnectionFlags): ServerConnection {
  const url = findRequestedUrl(flags);
  if (flags.key !== undefined) {
    process.stderr.write(
      "Warning: other users of this machine can see a key on the command line. Use gesso login or GESSO_API_KEY.\n",
    );
  }
  const key = flags.key ?? process.env.GESSO_API_KEY;
  const stored = () => findStoredConnections(flags);
  if (key) {
    const source = flags.key === undefined ? "environment variable GESSO_API_KEY" : "option --key";
    return { url: url ?? stored()[0]?.url ?? DEFAULT_URL, key, source };
  }
  const usable = stored().find((each) => url === undefined || each.url === url);
  if (usable) return usable;
  const where = url === undefined ? "" : ` for ${url}`;
  throw commandError(
    "auth",
    `No API key${where}. Run gesso login, set GESSO_API_KEY, or start gesso dev in this directory.`,
  );
}

/** The URL of the flag or the environment, without a slash at its end. */
export const findRequestedUrl = ({ url }: ConnectionFlags): string | undefined =>
  trimSlashes(url ?? process.env.GESSO_URL ?? "") || undefined;

const trimSlashes = (url: string) => url.replace(/\/+$/, "");

/** In the order in which they are used. A data directory or a profile that was asked for comes first, and alone. */
function findStoredConnections({ profile, data }: ConnectionFlags): ServerConnection[] {
  const instance = (directory: string): ServerConnection[] => {
    const found = findRunningInstance(directory);
    return found ? [{ ...found, source: `gesso dev in ${directory}` }] : [];
  };
  if (data !== undefined && profile === undefined) return instance(data);
  const name = selectProfileName(profile);
  const saved = findProfile(name);
  if (!saved && (profile !== undefined || process.env.GESSO_PROFILE))
    throw commandError("auth", `There is no profile ${name}. Run gesso login --profile ${name}.`);
  const own = saved ? [{ url: saved.url, key: saved.key, source: `profile ${name}` }] : [];
  return profile === undefined ? [...own, ...instance(DEFAULT_DATA)] : own;
}
