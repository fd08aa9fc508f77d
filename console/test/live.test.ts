// Live state: the tray is right after a reload, a time offline and killed processes, one stream serves all tabs, and
// the queue and the progress can be followed.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOwnConsoleBrowser, type Tab } from "./support/console-browser.ts";
import { trayOf, writeCatalogue } from "./support/make-steps.ts";
import { listTrayStates, unfoldTray, watchStreams } from "./support/tray.ts";

const CONCURRENT = 4;
/** Runs that Gesso starts before their provider has a free slot. */
const WAITING_AT_PROVIDER = 8;
/** Runs behind those, which stand in the queue. */
const QUEUED = 12;
const CATALOGUE = [
  ...["providers:", "  sandbox:", `    concurrent: ${CONCURRENT}`],
  ...["models:", "  flux-dev:", "    - provider: sandbox", "      price: 0.02", "      per: image"],
];
const SIZE = { width: 64, height: 64 };
const TABS = 8;
const ANNOUNCEMENT_MS = 5000;

let console: Awaited<ReturnType<typeof startOwnConsoleBrowser>>;
beforeAll(async () => {
  console = await startOwnConsoleBrowser({ roles: "split", env: { GESSO_CONFIG: writeCatalogue(CATALOGUE) } });
});
afterAll(() => console?.stop());

const start = async (prompt: string): Promise<string> =>
  (await console.client.images.generate({ prompt, ...SIZE })).run_id;
const startMany = (count: number, prompt: string) =>
  Promise.all(Array.from({ length: count }, (_, index) => start(`${prompt} ${index}`)));
const statesOf = async (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await console.client.runs.get(id)).status as string));

/** Waits until the tray has the states of the server. */
async function expectRightTray(page: Page, ids: readonly string[]): Promise<void> {
  const differences = async () => {
    const [shown, actual] = await Promise.all([listTrayStates(page, ids), statesOf(ids)]);
    return shown.flatMap((state, index) => (state === actual[index] ? [] : [`${state} instead of ${actual[index]}`]));
  };
  await expect.poll(differences).toEqual([]);
}

describe("[CON-19] the tray", () => {
  it("is right after kill -9 of API and worker in the middle of ten runs, after a reload and after a time offline", async () => {
    const tab = await console.signIn();
    const ids = await startMany(10, "ten kites [sandbox:delay=4]");
    await unfoldTray(tab.page);
    await expect.poll(() => statesOf(ids)).toContain("processing");
    await Promise.all([console.environment.killAndRestart("api"), console.environment.killAndRestart("worker")]);
    await expectRightTray(tab.page, ids);

    await tab.page.reload();
    await tab.page.getByRole("navigation").first().waitFor();
    await unfoldTray(tab.page);
    await expectRightTray(tab.page, ids);

    await tab.context.setOffline(true);
    await trayOf(tab.page).getByText("Reconnecting").waitFor();
    // The page cannot know of these before it is back.
    ids.push(...(await startMany(2, "kites unseen")));
    await expect.poll(() => statesOf(ids)).toEqual(ids.map(() => "completed"));
    expect((await listTrayStates(tab.page, ids)).slice(-2)).toEqual(["absent", "absent"]);
    await tab.context.setOffline(false);
    await expectRightTray(tab.page, ids);
    const ledger = await console.environment.query("select count(*)::int as n from attempts where run_id = any($1)", [
      ids,
    ]);
    expect(ledger).toEqual([{ n: ids.length }]);
    await tab.context.close();
  });
});

describe("[CON-20] eight tabs", () => {
  it("are all live over one stream, which moves to another tab when its tab closes", async () => {
    const first = await console.signIn();
    const streams = watchStreams(first.context);
    await first.page.reload();
    await expect.poll(() => streams.size).toBe(1);
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
    await expect.poll(() => allHave(tabs, "a kite for eight tabs")).toBe(true);
    expect(streams.size).toBe(1);

    const [leader] = streams.values();
    await leader?.close();
    const others = tabs.filter(({ page }) => page !== leader);
    await expect.poll(() => [...streams.values()].filter((page) => page !== leader).length).toBe(1);
    await start("a kite for seven tabs");
    await expect.poll(() => allHave(others, "a kite for seven tabs")).toBe(true);
    await first.context.close();
  });
});

it("[CON-21] the queue shows place and expected start, cancels one run or all queued ones, and says what each cost", async () => {
  const tab = await console.signIn();
  const ids = await startMany(CONCURRENT + WAITING_AT_PROVIDER + QUEUED, "a long queue [sandbox:delay=4]");
  await unfoldTray(tab.page);
  const list = trayOf(tab.page).getByRole("list");
  // Gesso measures how fast runs start while they wait, so the queue must not end before.
  const keepQueue = async () => {
    const queued = (await statesOf(ids)).filter((state) => state === "queued");
    if (queued.length < QUEUED) ids.push(...(await startMany(QUEUED, "a long queue [sandbox:delay=4]")));
  };
  await expect.poll(() => list.textContent()).toMatch(/Queued, place \d/);
  await expect
    .poll(async () => {
      await keepQueue();
      return list.textContent();
    })
    .toMatch(/Queued, place \d+ *· *~\d/);
  // From here on the queue stands still: every slot belongs to a run that takes longer than the test. The runs before
  // end first: one that still waits for the provider would wait for the endless ones, and the end of one would start
  // another while queued runs are being canceled.
  await expect.poll(async () => [...new Set(await statesOf(ids))]).toEqual(["completed"]);
  const endless = await startMany(CONCURRENT + WAITING_AT_PROVIDER, "a long queue [sandbox:delay=3000]");
  const behind = await startMany(QUEUED, "a long queue");
  ids.push(...endless, ...behind);
  const last = list.getByRole("listitem").filter({ has: tab.page.locator(`a[href$="${behind.at(-1)}"]`) });
  await last.getByRole("button", { name: /^Cancel/ }).click();
  await last.getByText("not charged").waitFor();
  await trayOf(tab.page).getByRole("button", { name: "Cancel queued" }).click();
  await expect.poll(async () => [...new Set(await statesOf(behind))]).toEqual(["canceled"]);
  expect((await statesOf(ids)).filter((state) => state !== "canceled").length).toBeGreaterThanOrEqual(CONCURRENT);
  const states = await statesOf(endless);
  const started = endless.filter((_, index) => states[index] !== "canceled");
  await Promise.all(started.map((id) => console.client.runs.cancel(id)));
  await expect.poll(async () => [...new Set(await statesOf(ids))].sort()).toEqual(["canceled", "completed"]);
  const rows = list.getByRole("listitem").filter({ hasText: "a long queue" });
  const withoutCost = async () => (await rows.allTextContents()).filter((words) => !/not charged|\$0\.02/.test(words));
  await expect.poll(withoutCost).toEqual([]);
  await tab.context.close();
});

/** Runs in the page before its own scripts: the timer of the announcements fires when the test says so. */
function holdAnnouncements(milliseconds: number): void {
  const ticks: (() => void)[] = [];
  const announce = () => {
    for (const tick of ticks) tick();
  };
  const start = setInterval;
  const hold = (tick: () => void, ms?: number) => (ms === milliseconds ? -ticks.push(tick) : start(tick, ms));
  Object.assign(globalThis, { announce, setInterval: hold });
}

describe("[CON-22] progress", () => {
  it("moves the title and the bar, and the live region speaks at most once in 5 s", async () => {
    const tab = await console.signIn();
    const { page } = tab;
    await page.addInitScript(holdAnnouncements, ANNOUNCEMENT_MS);
    await page.reload();
    const region = page.locator("aside > [role=status]");
    await region.waitFor({ state: "attached" });
    const spoken: string[] = [];
    await page.exposeFunction("hear", (words: string) => void spoken.push(words));
    await region.evaluate((element) => {
      const { hear } = globalThis as unknown as { hear(words: string): void };
      const options = { childList: true, characterData: true, subtree: true };
      new MutationObserver(() => hear(element.textContent ?? "")).observe(element, options);
    });
    const announce = () => page.evaluate(() => (globalThis as unknown as { announce(): void }).announce());

    const runId = await start("a slow kite [sandbox:delay=60]");
    const [titles, bars] = [new Set<string>(), new Set<string>()];
    await expect
      .poll(async () => {
        const title = await page.title();
        if (/^\d+ %/.test(title)) titles.add(title);
        const values = await trayOf(page)
          .getByRole("progressbar")
          .evaluateAll((shown) => shown.map((bar) => bar.getAttribute("aria-valuenow") ?? ""));
        for (const value of values) bars.add(value);
        return titles.size > 2 && bars.size > 2;
      })
      .toBe(true);
    await trayOf(page)
      .getByRole("link", { name: /a slow kite/ })
      .waitFor();
    // The run was queued and is being processed: two changes, but the 5 s are not over.
    expect(spoken).toEqual([]);
    await announce();
    await expect.poll(() => spoken).toEqual([expect.stringContaining("a slow kite")]);
    await console.client.runs.cancel(runId);
    await expect.poll(async () => /^\d+ %/.test(await page.title())).toBe(false);
    expect(spoken).toHaveLength(1);
    await announce();
    await expect.poll(() => spoken).toHaveLength(2);
    await announce();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    expect(spoken).toHaveLength(2);
    await tab.context.close();
  });
});
