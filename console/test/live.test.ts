// Live state: the tray is right after a reload, a time offline and killed processes, one stream serves all tabs, and
// the queue and the progress can be followed.
import type { BrowserContext, Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";
import { eventually, trayOf, writeCatalogue } from "./support/make-steps.ts";
import { speedLimit } from "./support/speed.ts";

const CONCURRENT = 4;
/** Runs that Gesso starts before their provider has a free slot. */
const WAITING_AT_PROVIDER = 8;
/** Enough that the queue lasts longer than the measurement of its speed. */
const QUEUED = 20;
const CATALOGUE = [
  ...["providers:", "  sandbox:", `    concurrent: ${CONCURRENT}`],
  ...["models:", "  flux-dev:", "    - provider: sandbox", "      price: 0.02", "      per: image"],
];
const SIZE = { width: 64, height: 64 };
const TABS = 8;
const RETURN_MS = speedLimit(3000);
const OFFLINE_MS = 30_000;
const MINUTES = 60_000;

let console: ConsoleBrowser;
beforeAll(async () => {
  console = await startConsoleBrowser({ roles: "split", env: { GESSO_CONFIG: writeCatalogue(CATALOGUE) } });
});
afterAll(() => console?.stop());

const start = async (prompt: string): Promise<string> =>
  (await console.client.images.generate({ prompt, ...SIZE })).run_id;
const startMany = (count: number, prompt: string) =>
  Promise.all(Array.from({ length: count }, (_, index) => start(`${prompt} ${index}`)));
const statesOf = async (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await console.client.runs.get(id)).status as string));

/** The runs of the unfolded tray with their states, in the order of `ids`; a run that stands there twice is "twice". */
async function trayStates(page: Page, ids: readonly string[]): Promise<string[]> {
  const rows = await trayOf(page)
    .getByRole("listitem")
    .evaluateAll((items) =>
      items.map((item) => ({
        id: item.querySelector("a")?.getAttribute("href")?.split("/").at(-1),
        words: item.textContent ?? "",
      })),
    );
  return ids.map((id) => {
    const own = rows.filter((row) => row.id === id);
    if (own.length !== 1) return own.length === 0 ? "absent" : "twice";
    const { words } = own[0]!;
    if (words.includes("%")) return "processing";
    return ["Completed", "Failed", "Canceled", "Queued"].find((state) => words.includes(state))?.toLowerCase() ?? words;
  });
}

async function unfoldTray(page: Page): Promise<void> {
  await trayOf(page).getByRole("button", { name: "Show all runs in progress" }).click();
  await trayOf(page).getByRole("listitem").first().waitFor();
}

/** The tray has the states of the server, or did within the allowed time. */
async function expectRightTray(page: Page, ids: readonly string[], milliseconds: number): Promise<void> {
  const differences = async () => {
    const [shown, actual] = await Promise.all([trayStates(page, ids), statesOf(ids)]);
    return shown.flatMap((state, index) => (state === actual[index] ? [] : [`${state} instead of ${actual[index]}`]));
  };
  await expect.poll(differences, { timeout: milliseconds, interval: 100 }).toEqual([]);
}

describe("[CON-19] the tray", () => {
  it(
    "is right after kill -9 of API and worker in the middle of ten runs, after a reload and after 30 s offline",
    async () => {
      const tab = await console.signIn();
      const ids = await startMany(10, "ten kites [sandbox:delay=8]");
      await unfoldTray(tab.page);
      await eventually(() => statesOf(ids)).toContain("processing");
      await Promise.all([console.environment.killAndRestart("api"), console.environment.killAndRestart("worker")]);
      await expectRightTray(tab.page, ids, RETURN_MS);

      await tab.page.reload();
      await tab.page.getByRole("navigation").first().waitFor();
      await unfoldTray(tab.page);
      await expectRightTray(tab.page, ids, RETURN_MS);

      await tab.context.setOffline(true);
      await trayOf(tab.page).getByText("Reconnecting").waitFor();
      await tab.page.waitForTimeout(OFFLINE_MS);
      await eventually(() => statesOf(ids)).toEqual(ids.map(() => "completed"));
      await tab.context.setOffline(false);
      await expectRightTray(tab.page, ids, RETURN_MS);
      const ledger = await console.environment.query("select count(*)::int as n from attempts where run_id = any($1)", [
        ids,
      ]);
      expect(ledger).toEqual([{ n: ids.length }]);
      await tab.context.close();
    },
    4 * MINUTES,
  );
});

/** Streams that a browser profile holds open, by tab. */
function watchStreams(context: BrowserContext): { open: Map<Request, Page> } {
  const open = new Map<Request, Page>();
  context.on("request", (request) => {
    if (request.url().includes("/console/api/v1/events")) open.set(request, request.frame().page());
  });
  const close = (request: Request) => void open.delete(request);
  context.on("requestfinished", close);
  context.on("requestfailed", close);
  return { open };
}

describe("[CON-20] eight tabs", () => {
  it(
    "are all live over one stream, which moves to another tab when its tab closes",
    async () => {
      const first = await console.signIn();
      const streams = watchStreams(first.context);
      await first.page.reload();
      await eventually(() => streams.open.size).toBe(1);
      const tabs: Tab[] = [first];
      while (tabs.length < TABS) tabs.push(await console.openTab(first.context, "/runs"));
      await Promise.all(tabs.map(({ page }) => trayOf(page).waitFor()));
      await start("a kite for eight tabs");
      const hasTile = (words: string) => async (tab: Tab) =>
        (await trayOf(tab.page)
          .getByRole("link", { name: new RegExp(words) })
          .count()) > 0;
      const allHave = async (among: Tab[], words: string) =>
        (await Promise.all(among.map(hasTile(words)))).every(Boolean);
      await eventually(() => allHave(tabs, "a kite for eight tabs")).toBe(true);
      expect(streams.open.size).toBe(1);

      const [leader] = streams.open.values();
      await leader?.close();
      const closed = Date.now();
      const others = tabs.filter(({ page }) => page !== leader);
      await eventually(() => [...streams.open.values()].filter((page) => page !== leader).length).toBe(1);
      expect(Date.now() - closed).toBeLessThanOrEqual(RETURN_MS);
      await start("a kite for seven tabs");
      await eventually(() => allHave(others, "a kite for seven tabs")).toBe(true);
      await first.context.close();
    },
    2 * MINUTES,
  );
});

it(
  "[CON-21] the queue shows place and expected start, cancels one run or all queued ones, and says what each cost",
  async () => {
    const tab = await console.signIn();
    const ids = await startMany(CONCURRENT + WAITING_AT_PROVIDER + QUEUED, "a long queue [sandbox:delay=4]");
    await unfoldTray(tab.page);
    const list = trayOf(tab.page).getByRole("list");
    await eventually(() => list.textContent()).toMatch(/Queued, place \d/);
    await eventually(() => list.textContent()).toMatch(/Queued, place \d+ *· *~\d/);
    const queued = list.getByRole("listitem").filter({ hasText: "Queued, place" });
    await queued
      .first()
      .getByRole("button", { name: /^Cancel/ })
      .click();
    await list.getByText("not charged").first().waitFor();
    await trayOf(tab.page).getByRole("button", { name: "Cancel queued" }).click();
    await eventually(async () => (await statesOf(ids)).filter((state) => state === "queued")).toEqual([]);
    const ended = await statesOf(ids);
    expect(ended.filter((state) => state === "canceled").length).toBeGreaterThanOrEqual(1);
    expect(ended.filter((state) => state !== "canceled").length).toBeGreaterThanOrEqual(CONCURRENT);
    await eventually(async () => [...new Set(await statesOf(ids))].sort()).toEqual(["canceled", "completed"]);
    const rows = list.getByRole("listitem").filter({ hasText: "a long queue" });
    const withoutCost = async () =>
      (await rows.allTextContents()).filter((words) => !/not charged|\$0\.02/.test(words));
    await eventually(withoutCost).toEqual([]);
    await tab.context.close();
  },
  2 * MINUTES,
);

describe("[CON-22] progress", () => {
  it(
    "moves the title and the bar, and the live region speaks at most once in 5 s",
    async () => {
      const tab = await console.signIn();
      await tab.page.evaluate(() => {
        const spoken: { at: number; words: string }[] = [];
        Object.assign(globalThis, { spoken });
        const region = document.querySelector("aside > [role=status]")!;
        new MutationObserver(() => spoken.push({ at: performance.now(), words: region.textContent ?? "" })).observe(
          region,
          { childList: true, characterData: true, subtree: true },
        );
      });
      await start("a slow kite [sandbox:delay=12]");
      const titles = new Set<string>();
      const bars = new Set<string>();
      const read = async () => {
        const title = await tab.page.title();
        if (/^\d+ %/.test(title)) titles.add(title);
        for (const bar of await trayOf(tab.page).getByRole("progressbar").all()) {
          bars.add((await bar.getAttribute("aria-valuenow").catch(() => null)) ?? "");
        }
        return titles.size > 2 && bars.size > 2;
      };
      await eventually(read).toBe(true);
      await eventually(async () => /^\d+ %/.test(await tab.page.title())).toBe(false);
      const times = () => tab.page.evaluate(() => (globalThis as unknown as { spoken: { at: number }[] }).spoken);
      await eventually(async () => (await times()).length).toBeGreaterThan(0);
      const spoken = (await times()).map(({ at }) => at);
      const gaps = spoken.slice(1).map((at, index) => at - spoken[index]!);
      expect(gaps.every((gap) => gap >= 4900)).toBe(true);
      await tab.context.close();
    },
    2 * MINUTES,
  );
});
