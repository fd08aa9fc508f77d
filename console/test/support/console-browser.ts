// Opens the console in Chromium against a complete Gesso with the sandbox. Every page records what must never happen:
// errors in its console, exceptions, violations of the content security policy and requests to other origins.
import { createClient } from "@gesso/client";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { type Installation, openSharedInstallation } from "../../../server/test/support/shared-installation.ts";
import {
  startTestEnvironment,
  type TestEnvironment,
  type TestEnvironmentOptions,
} from "../../../server/test/support/test-environment.ts";
import { connectBrowser } from "./shared-browser.ts";
import { WAITING_MS } from "./wait-until.ts";

export type TabOptions = {
  /** Path below /console, such as `/gallery`. */
  path?: string;
  /** API key of the account that signs in. Default: the owner of the file's tenant. */
  key?: string;
  theme?: "light" | "dark";
  width?: number;
  height?: number;
  hasTouch?: boolean;
};

export type Tab = {
  page: Page;
  context: BrowserContext;
  /** What must never happen, in order. Tests end with `expect(tab.problems).toEqual([])`. */
  problems: string[];
  /** Opens a path below /console in this tab. */
  open(path: string): Promise<void>;
};

type Client = ReturnType<typeof createClient>;

/** What pages and tests need of an installation, shared or not. */
export type ConsoleInstallation = Pick<Installation, "url" | "key" | "operatorKey" | "query" | "stop">;

export type ConsoleBrowser<Environment = ConsoleInstallation> = {
  environment: Environment;
  url: string;
  key: string;
  /** The client with the owner's key, to make and read what a page shows. */
  client: Client;
  /** The client with the operator's key, for operations across tenants. */
  operator: Client;
  /** A new browser profile, which has not signed in. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A new browser profile that has signed in by a one-time link. */
  signIn(options?: TabOptions): Promise<Tab>;
  /** Another tab of a profile that has signed in. */
  openTab(context: BrowserContext, path: string): Promise<Tab>;
  stop(): Promise<void>;
};

/** Opens the console of the shared installation, with a tenant for the file that asks. */
export async function startConsoleBrowser(): Promise<ConsoleBrowser> {
  return openConsoleBrowser(await openSharedInstallation({}, "console"));
}

/** The console of an installation of its own, for tests that need other settings or kill processes. */
export async function startOwnConsoleBrowser(
  options: TestEnvironmentOptions,
): Promise<ConsoleBrowser<TestEnvironment & ConsoleInstallation>> {
  const environment = await startTestEnvironment(options);
  return openConsoleBrowser({ ...environment, operatorKey: environment.key });
}

/** The console of an installation that the caller has started. Closing the browser stops the installation. */
export async function openConsoleBrowser<Environment extends ConsoleInstallation>(
  environment: Environment,
): Promise<ConsoleBrowser<Environment>> {
  const browser = await connectBrowser();
  const { url, key, operatorKey } = environment;
  const newContext = async (options: BrowserContextOptions = {}): Promise<BrowserContext> => {
    const context = await browser.newContext(options);
    // The default of 30 s per step would fail tests on a busy machine.
    context.setDefaultTimeout(WAITING_MS);
    return context;
  };
  const openTab = async (context: BrowserContext, path: string): Promise<Tab> => {
    const page = await context.newPage();
    const problems = recordProblems(page, url);
    const open = async (path: string) => void (await page.goto(`${url}/console${path}`));
    await open(path);
    return { page, context, problems, open };
  };
  return {
    ...{ environment, url, key, newContext, openTab },
    client: createClient({ baseUrl: url, apiKey: key }),
    operator: createClient({ baseUrl: url, apiKey: operatorKey }),
    async signIn({ path = "/", theme = "light", width = 1440, height = 900, ...rest } = {}) {
      const context = await newContext({
        viewport: { width, height },
        colorScheme: theme,
        hasTouch: rest.hasTouch ?? false,
      });
      const tab = await openTab(context, await createSignInPath(url, rest.key ?? key));
      await tab.page.getByRole("navigation").first().waitFor();
      if (path !== "/") await tab.open(path);
      return tab;
    },
    async stop() {
      await Promise.all(browser.contexts().map((context) => context.close()));
      await browser.close();
      await environment.stop();
    },
  };
}

/** The path of a link that signs in once, as `gesso dev` prints it. */
export async function createSignInPath(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/console/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) throw new Error(`no sign-in link: ${await response.text()}`);
  const link = (await response.json()) as { url: string };
  return link.url.slice(`${url}/console`.length);
}

function recordProblems(page: Page, origin: string): string[] {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (thrown) => problems.push(`exception: ${thrown.message}`));
  page.on("request", (request) => {
    const { protocol, origin: target } = new URL(request.url());
    if (protocol.startsWith("http") && target !== origin) problems.push(`request to ${target}`);
  });
  return problems;
}
