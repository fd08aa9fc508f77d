// The core suite in a page of Chromium. The page is of another origin than the API, which allows it by `CORS_ORIGINS`;
// it holds the client as plain modules, as a server without a bundler would give it.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { SuiteResult } from "./runtimes.ts";

const CHROMIUM = "/usr/bin/chromium";
const TYPES: Record<string, string> = { js: "text/javascript", png: "image/png" };

export type Page = { origin: string; close(): void };

/** Files of the folder, and nothing of Gesso. */
export async function servePage(folder: string): Promise<Page> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    const file = join(folder, pathname);
    if (pathname === "/")
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>core</title>");
    else if (existsSync(file))
      response.writeHead(200, { "content-type": TYPES[pathname.split(".").at(-1)!] ?? "" }).end(readFileSync(file));
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

export async function runInChromium(
  { origin }: Page,
  baseUrl: string,
  key: string,
): Promise<SuiteResult & { version: string }> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.goto(`${origin}/`);
    const sum = await page.evaluate(`(async () => {
      const client = "/node_modules/@gesso/client/esm";
      const [gesso, webhooks, core, png] = await Promise.all([import(client + "/index.js"),
        import(client + "/webhooks.js"), import("/core.js"), fetch("/red.png").then((response) => response.arrayBuffer())]);
      const options = ${JSON.stringify({ baseUrl })};
      options.getToken = async () => ${JSON.stringify(key)};
      return core.runTests(core.suite({ gesso, webhooks, options, png: new Uint8Array(png), isBrowser: true }));
    })()`);
    return { ...(sum as SuiteResult), version: browser.version() };
  } finally {
    await browser.close();
  }
}
