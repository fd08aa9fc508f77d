// What the checks need of an identity provider, and its login pages in a browser without scripts.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { ManagedProcess } from "@gesso/dev/components";
import { type Browser, visit } from "../access/login-provider.ts";

export const CACHE = join(import.meta.dirname, "../../../node_modules/.cache");
export const CLIENT = { client_id: "gesso-console", client_secret: "a-secret-of-the-console-in-a-check" };
export const AUDIENCE = "gesso";

/** The people at every provider, with their groups. All have the same password. */
export const PEOPLE: Record<string, string[]> = {
  ann: ["staff", "artists"],
  bob: ["staff", "artists"],
  eve: ["visitors"],
  kim: ["staff", "artists"],
};

export type RealProvider = {
  process: ManagedProcess;
  password: string;
  setGroups(login: string, groups: string[]): Promise<void>;
  /** The account stays, where the provider can disable one, and cannot sign in. */
  disable(login: string): Promise<void>;
  /** Signs out at the provider's own page. Undefined if the provider has no Back-Channel Logout. */
  logOut?(browser: Browser): Promise<void>;
  /** Ends the sessions of a person as an administrator. Undefined if the provider has no Back-Channel Logout. */
  endSessions?(login: string): Promise<void>;
  /** An access token of the person. Undefined if its access tokens are for the provider itself. */
  findAccessToken?(login: string, client: string): Promise<string>;
};

const unescapeHtml = (text: string) => text.replaceAll("&amp;", "&").replaceAll("&#43;", "+");
const findForm = (page: string) => /<form[^>]*\baction="([^"]*)"/.exec(page)?.[1];

/** Fills in the login page. Returns the URL with which the provider sends the browser back; undefined if it refuses. */
export async function logInAtPage(
  browser: Browser,
  startUrl: string,
  { login, password }: { login: string; password: string },
): Promise<string | undefined> {
  const { host } = new URL(startUrl);
  let response = await visit(browser, startUrl);
  let url = startUrl;
  let hasSubmitted = false;
  for (let steps = 0; steps < 12; steps++) {
    const location = response.headers.get("location");
    if (location) {
      url = new URL(location, url).href;
      if (new URL(url).host !== host) return url;
      response = await visit(browser, url);
      continue;
    }
    const page = await response.text();
    const action = findForm(page);
    if (action === undefined && !hasSubmitted) throw new Error(`${url} has no form: ${page.slice(0, 300)}`);
    if (hasSubmitted) return undefined;
    hasSubmitted = true;
    url = new URL(unescapeHtml(action!), url).href;
    const body = new URLSearchParams({ username: login, login, password });
    response = await visit(browser, url, { method: "POST", body });
  }
  throw new Error("the provider neither sent the browser back nor refused");
}

/** Opens a page and sends its form, with the hidden fields. */
export async function submitForm(browser: Browser, url: string): Promise<void> {
  const page = await (await visit(browser, url)).text();
  const action = findForm(page);
  if (action === undefined) throw new Error(`${url} has no form: ${page.slice(0, 300)}`);
  const hidden = [...page.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
    /name="([^"]*)"/.exec(input)?.[1] ?? "",
    unescapeHtml(/value="([^"]*)"/.exec(input)?.[1] ?? ""),
  ]);
  const target = new URL(unescapeHtml(action), url).href;
  await visit(browser, target, { method: "POST", body: new URLSearchParams(hidden) });
}

export async function assertDigest(file: string, sha256: string): Promise<void> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  const digest = hash.digest("hex");
  if (digest !== sha256) throw new Error(`${file} has the SHA-256 ${digest} instead of ${sha256}`);
}
