// The console without violations of WCAG 2.2 AA, usable by keyboard alone, at 320 px and at 200 %, small and quick.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";

const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const EMPTY_ROUTES = [
  ...["/", "/gallery", "/runs", "/compare", "/models", "/usage", "/webhooks", "/keys", "/people"],
  "/no-such-page",
];
/** Pages about the whole installation. */
const OPERATOR_ROUTES = ["/system", "/tenants"];
/** A page that waits for an answer shows a progress indicator or a busy region. */
const BUSY = "[aria-busy=true], [role=progressbar]";

let browser: ConsoleBrowser;
let made: { first: string; second: string };
beforeAll(async () => {
  browser = await startConsoleBrowser();
});
afterAll(() => browser?.stop());

type Theme = "light" | "dark";

/** The themes differ in colours only, so the other rules are checked once. */
const scan = async (page: Page, where: string, theme: Theme): Promise<string[]> => {
  // Legacy mode: pages have no frames, and the other mode opens a second page for each scan.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (theme === "light" ? axe.withTags(TAGS) : axe.withRules(COLOUR_RULES)).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${where}: ${id} at ${target.join(" ")}`));
};

/** Colours fade from one theme to the other, and even the shortest fade lasts until the next frame is drawn. */
const colorsAreSettled = () => !document.getAnimations().some((animation) => animation instanceof CSSTransition);

/** Both themes of one loaded page. */
const scanThemes = async (tab: Tab, where: string): Promise<string[]> => {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as Theme[]) {
    await tab.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await tab.page.waitForFunction(colorsAreSettled);
    found.push(...(await scan(tab.page, `${where}, ${colorScheme}`, colorScheme)));
  }
  return found;
};

const scanRoutes = async (tab: Tab, routes: string[], state: string): Promise<string[]> => {
  const found: string[] = [];
  for (const route of routes) {
    await tab.open(route);
    await tab.page.getByRole("heading").first().waitFor();
    await expect.poll(() => tab.page.locator(BUSY).count()).toBe(0);
    found.push(...(await scanThemes(tab, `${route} (${state})`)));
  }
  return found;
};

it("signs in by the link and shows Make, without an error", async () => {
  const tab = await browser.signIn();
  await tab.page.getByRole("heading", { name: "Make your first image" }).waitFor();
  expect(tab.problems).toEqual([]);
  await tab.context.close();
});

it("[CON-40] the console has no violation on any empty page, nor on the sign-in page, light and dark", async () => {
  const signedOut = await browser.newContext();
  const login = await browser.openTab(signedOut, "/");
  await login.page.getByRole("heading").first().waitFor();
  expect(await scanThemes(login, "sign-in")).toEqual([]);
  await signedOut.close();
  const tab = await browser.signIn();
  expect(await scanRoutes(tab, EMPTY_ROUTES, "empty")).toEqual([]);
  await tab.context.close();
});

it("[CON-40] the console has no violation on any page with content, light and dark", async () => {
  const { images, keys, webhooks } = browser.client;
  await keys.create({ name: "Shop", scopes: ["images:write"], limits: { spend_per_month: 20 } });
  await webhooks.create({ url: "https://example.com/hook" });
  const [first, second] = await Promise.all(
    ["a red fox in a snowy forest", "a lighthouse at dusk"].map((prompt) => images.generate({ prompt, sync: true })),
  );
  made = { first: first!.run_id, second: second!.run_id };
  const tab = await browser.signIn();
  const routes = [
    ...EMPTY_ROUTES.filter((route) => route !== "/no-such-page"),
    ...[`/runs/${made.first}`, `/compare?items=${made.first},${made.second}`, `/paint/${made.first}`],
  ];
  expect(await scanRoutes(tab, routes, "filled")).toEqual([]);
  await tab.context.close();
  const operator = await browser.signIn({ key: browser.environment.operatorKey });
  expect(await scanRoutes(operator, OPERATOR_ROUTES, "filled")).toEqual([]);
  await operator.context.close();
});

it("[CON-40] the console has no violation on any page whose requests fail, light and dark", async () => {
  const body = { code: "internal_error", message: "Internal error.", details: { request_id: "req_1" } };
  const scanFailing = async (key: string, routes: string[]) => {
    const tab = await browser.signIn({ key });
    await tab.page.route("**/console/api/v1/**", (route) =>
      route.request().url().endsWith("/me") ? route.continue() : route.fulfill({ status: 500, json: body }),
    );
    const found = await scanRoutes(tab, routes, "error");
    await tab.context.close();
    return found;
  };
  const routes = [...EMPTY_ROUTES, `/runs/${made.first}`, `/paint/${made.first}`];
  expect(await scanFailing(browser.key, routes)).toEqual([]);
  expect(await scanFailing(browser.environment.operatorKey, OPERATOR_ROUTES)).toEqual([]);
});

it("[CON-40] the console loses nothing at 320 px and at 200 %", async () => {
  const checkWidths = async (key: string, routes: string[]) => {
    const tab = await browser.signIn({ key });
    for (const route of routes) {
      await tab.open(route);
      await tab.page.getByRole("heading").first().waitFor();
      // 200 % of a window of 1,280 px is a layout of 640 px.
      for (const width of [640, 320]) {
        await tab.page.setViewportSize({ width, height: 640 });
        const overflow = () => tab.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        await expect.poll(overflow, { message: `${route} at ${width} px` }).toBeLessThanOrEqual(0);
      }
    }
    await tab.context.close();
  };
  await checkWidths(browser.key, [...EMPTY_ROUTES, `/runs/${made.first}`]);
  await checkWidths(browser.environment.operatorKey, OPERATOR_ROUTES);
});
