// `gesso login`: checks an API key, or signs in at the server's identity provider, and saves the credential in a
// profile. The key comes from standard input, never from the command line.
import { hostname } from "node:os";
import type { Identity } from "@gesso/client";
import { findRunningInstance } from "@gesso/dev/running-instance";
import { Command } from "commander";
import { createCliClient } from "../connection.ts";
import { credentialsPath, findProfile, type Profile, saveProfile, selectProfileName } from "../credentials.ts";
import { commandError, runCommand } from "../exit-codes.ts";
import { isUnattended, toHarmlessText } from "../output/terminal.ts";
import { askForKey, readPipedKey } from "../read-key.ts";
import { DEFAULT_DATA, DEFAULT_URL, findRequestedUrl } from "../resolve-connection.ts";
import { type CliIssuer, signInWithBrowser } from "./login/browser-sign-in.ts";

type Flags = { url?: string; profile?: string; withKey?: boolean; issuer?: string };

const EXAMPLES = `
Examples:
  gesso login                                    sign in to the running gesso dev, or to GESSO_URL
  gesso login --url https://gesso.example.com    sign in to your server
  gesso login --profile staging --url ...        save the sign-in under another name
  gesso login --url ... < key.txt                read the API key from a file

If the server has an identity provider for the command line, your browser opens. Otherwise paste an API key.
The credential is saved in ~/.config/gesso/credentials.json, which only you can read.`;

export function loginCommand(): Command {
  return new Command("login")
    .option("--url <url>", "URL of the server (default: GESSO_URL, the profile, or the running gesso dev)")
    .option("--profile <name>", "name to save the sign-in under (default: GESSO_PROFILE, or default)")
    .option("--with-key", "ask for an API key, even if the server has an identity provider")
    .option("--issuer <id>", "identity provider, if the server has several")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: Flags) => {
      process.exitCode = await runCommand("gesso login", () => ({ url: chooseUrl(flags) }), login(flags));
    });
}

function chooseUrl(flags: Flags): string {
  const url =
    findRequestedUrl(flags) ??
    findProfile(selectProfileName(flags.profile))?.url ??
    findRunningInstance(DEFAULT_DATA)?.url ??
    DEFAULT_URL;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw commandError("usage", `${url} is not a URL, for example https://gesso.example.com.`);
  return url;
}

const login =
  (flags: Flags) =>
  async ({ url }: { url: string }): Promise<number> => {
    const name = selectProfileName(flags.profile);
    const isInteractive = process.stdin.isTTY && !isUnattended();
    const issuer = isInteractive || flags.issuer ? await findIssuer(url, flags) : undefined;
    const profile = issuer ? await signInAtIssuer(url, issuer) : await signInWithKey(url);
    const identity = await createCliClient(profile).me.get();
    saveProfile(name, profile);
    process.stderr.write(`Signed in to ${url} as ${describeIdentity(identity)}.\n`);
    process.stderr.write(`Saved as profile ${name} in ${credentialsPath()}\n`);
    return 0;
  };

const describeIdentity = ({ user_id, role, tenant }: Identity): string =>
  `${user_id}, ${role} of ${toHarmlessText(tenant.name)}`;

async function signInWithKey(url: string): Promise<Profile> {
  if (process.stdin.isTTY && isUnattended())
    throw commandError("usage", `Pass the API key on standard input, for example: gesso login --url ${url} < key.txt`);
  const key = process.stdin.isTTY ? await askForKey(`API key for ${url} (not shown): `) : await readPipedKey();
  return { url, key };
}

/** Access tokens live for minutes, so the token is exchanged for a key. It expires with the issuer's `max_key_days`. */
async function signInAtIssuer(url: string, issuer: CliIssuer): Promise<Profile> {
  const client = createCliClient({ url, key: await signInWithBrowser(issuer) });
  const { credential } = await client.me.get();
  const { key, id } = await client.keys.create({
    name: `Command line on ${hostname()}`.slice(0, 200),
    scopes: credential.scopes,
  });
  if (key === null) throw commandError("failed", "The server created no key. Try again.");
  return { url, key, key_id: id };
}

async function findIssuer(url: string, { withKey, issuer }: Flags): Promise<CliIssuer | undefined> {
  if (withKey) return undefined;
  const issuers = await fetchIssuers(url);
  const ids = issuers.map(({ id }) => id).join(", ");
  const found = issuer === undefined ? issuers[0] : issuers.find(({ id }) => id === issuer);
  if (issuer !== undefined && !found)
    throw commandError(
      "usage",
      `${url} has no identity provider ${issuer} for the command line. It has: ${ids || "none"}.`,
    );
  if (issuer === undefined && issuers.length > 1)
    throw commandError("usage", `${url} has several identity providers. Choose one with --issuer: ${ids}.`);
  return found;
}

/** A server without the endpoint has no identity provider for the command line. */
async function fetchIssuers(url: string): Promise<CliIssuer[]> {
  try {
    const response = await fetch(`${url}/cli/config.json`, { signal: AbortSignal.timeout(10_000) });
    if (!response.ok) return [];
    const { sign_in_methods } = (await response.json()) as { sign_in_methods?: { oidc?: CliIssuer[] } };
    return sign_in_methods?.oidc ?? [];
  } catch {
    throw commandError("failed", `Cannot reach Gesso at ${url}. Check the URL and that the server is running.`);
  }
}
