// Vitest global setup: one browser process for all test files of the console. Each file connects to it and opens
// contexts of its own, which share nothing. The browser resolves no name of another host, as without a network.
import { existsSync } from "node:fs";
import { type Browser, type BrowserServer, chromium } from "playwright-core";
import { findLab } from "../../../server/test/support/lab.ts";

/** Where test files connect to the browser; unset outside Vitest. */
const ENDPOINT_VARIABLE = "GESSO_TEST_BROWSER";
/** Debian's programs. The first one has no window system and no interface, so it needs less processor time. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

const launchOptions = () => ({
  executablePath: PROGRAMS.find((program) => existsSync(program)) ?? PROGRAMS[0]!,
  args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
});

/** A browser that other processes connect to. */
export const launchBrowser = (): Promise<BrowserServer> => chromium.launchServer(launchOptions());

export async function setup(): Promise<() => Promise<void>> {
  const lab = await findLab();
  const server = lab?.browser === undefined ? await launchBrowser() : undefined;
  process.env[ENDPOINT_VARIABLE] = server?.wsEndpoint() ?? lab?.browser;
  return async () => server?.close();
}

/** The shared browser in Vitest, otherwise a new one. Closing it closes only the contexts of the caller. */
export const connectBrowser = (): Promise<Browser> => {
  const endpoint = process.env[ENDPOINT_VARIABLE];
  return endpoint ? chromium.connect(endpoint) : chromium.launch(launchOptions());
};
