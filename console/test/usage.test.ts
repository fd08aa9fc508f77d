// The usage page beside the API: figures, bars, table, CSV and budgets have the same numbers, to the micro-dollar.
import { createClient, type UsageReport } from "@gesso/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";
import { readDownload } from "./support/downloads.ts";

const SIZE = { width: 64, height: 64 };
const dollars = new Intl.NumberFormat("en-US", {
  ...{ style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: 6 },
});
const micros = (amount: number) => Math.round(amount * 1e6);
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

let browser: ConsoleBrowser;
let tab: Tab;
let heldRun: string;
beforeAll(async () => {
  browser = await startConsoleBrowser();
  const { tenant } = await browser.client.me.get();
  await browser.operator.tenants.update(tenant.id, { limits: { spend_per_month: 2 } });
  const { key } = await browser.client.keys.create({
    ...{ name: "web-app", scopes: ["*"], limits: { spend_per_month: 0.5 } },
  });
  const client = createClient({ baseUrl: browser.url, apiKey: key! });
  const named = { customer: "acme", end_user: "ann", tags: ["feature:lamp", "night"] };
  const lighthouse = await client.images.generate({ prompt: "a lighthouse", ...SIZE, ...named }).wait();
  await client.images.edit.vendora({ run_id: lighthouse.run_id, prompt: "at night" }).wait();
  await client.images
    .generate({ prompt: "a lighthouse [sandbox:fail]", ...SIZE })
    .wait()
    .catch(() => undefined);
  heldRun = (await client.images.generate({ prompt: "a slow ship [sandbox:delay=300]", ...SIZE })).run_id;
  tab = await browser.signIn({ path: "/usage" });
});
afterAll(async () => {
  await browser?.client.runs.cancel(heldRun).catch(() => undefined);
  await browser?.stop();
});

/** The rows of the visible table: name, runs and spend. */
const readTable = async (page: Page, part: "tbody" | "tfoot"): Promise<[string, string, string][]> => {
  const rows = await page.locator(`table:not(.visually-hidden) ${part} tr`).all();
  return Promise.all(
    rows.map(async (row) => {
      const cells = await row.locator("td").allInnerTexts();
      return [cells[0]!.trim(), cells[1]!, cells.at(-1)!];
    }),
  );
};

const groupRows = (report: UsageReport, name: (row: UsageReport["data"][number]) => string) =>
  [...Map.groupBy(report.data, name)]
    .map(([key, rows]) => ({
      key,
      runs: sum(rows.map(({ runs }) => runs)),
      micros: sum(rows.map((r) => micros(r.amount))),
    }))
    .sort((a, b) => b.micros - a.micros || b.runs - a.runs)
    .map(({ key, runs, micros: amount }) => [key, String(runs), dollars.format(amount / 1e6)]);

const readBars = (page: Page) =>
  page.locator("rect[data-value]").evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("data-value"))));

describe("[CON-39] the usage page", () => {
  it.each([
    ["customer", "Customer", 1],
    ["end_user", "End user", 1],
    ["tag", "Tag", 2],
  ] as const)("has the sums of the runs that name one by %s", async (by, label, rows) => {
    const { page } = tab;
    const report = await browser.client.usage.get({ by: `day,${by}` });
    await page.getByRole("radio", { name: label, exact: true }).click();
    const expected = groupRows(report, (row) => String(row[by]));
    expect(expected).toHaveLength(rows);
    await expect.poll(() => readTable(page, "tbody")).toEqual(expected);
    expect(await page.getByText(/^Only runs that/).count()).toBe(1);
  });

  it.each([
    ["model", "Model"],
    ["operation", "Operation"],
  ] as const)("has the same sums by %s in bars, table and usage.get, to the micro-dollar", async (by, label) => {
    const { page } = tab;
    const report = await browser.client.usage.get({ by: `day,${by}` });
    await page.getByRole("radio", { name: label, exact: true }).click();
    const expected = groupRows(report, (row) => String(row[by]));
    await expect.poll(() => readTable(page, "tbody")).toEqual(expected);
    expect(await readTable(page, "tfoot")).toEqual([
      ["Total", String(report.total.runs), dollars.format(report.total.amount)],
    ]);
    await page.getByRole("radio", { name: "Spend", exact: true }).click();
    await expect.poll(async () => sum(await readBars(page))).toBe(micros(report.total.amount));
    await page.getByRole("radio", { name: "Runs", exact: true }).click();
    await expect.poll(async () => sum(await readBars(page))).toBe(report.total.runs);
    await expect.poll(() => page.locator("dl dd").first().innerText()).toBe(dollars.format(report.total.amount));
  });

  it("saves a CSV that equals the API's, byte for byte", async () => {
    const { page } = tab;
    const report = await browser.client.usage.get({ by: "day,operation" });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const query = new URLSearchParams({ from: report.from, to: report.to, by: "day,operation" });
    const response = await fetch(`${browser.url}/api/v1/usage?${query}`, {
      headers: { authorization: `Bearer ${browser.key}`, accept: "text/csv" },
    });
    const own = await readDownload(download);
    expect(own.toString()).toMatch(/^day,operation,runs,/);
    expect(own.equals(Buffer.from(await response.arrayBuffer()))).toBe(true);
  });

  it("shows what is used, held and left of the limits of the tenant and of its keys", async () => {
    const { page } = tab;
    const { budgets } = await browser.client.usage.get({ all_keys: true });
    expect(budgets.map(({ of, month }) => [of, month?.held])).toEqual([
      ["tenant", 0.03],
      ["key", 0.03],
    ]);
    for (const { name, month } of budgets) {
      const { limit, used, held } = month!;
      const section = page.getByRole("region", { name: name === null ? "all keys, monthly" : "web-app" });
      const said = await section.innerText();
      expect(said).toContain(`${dollars.format((micros(used) - micros(held)) / 1e6)} of ${dollars.format(limit)}`);
      expect(said).toContain(
        `${dollars.format(held)} held · ${dollars.format((micros(limit) - micros(used)) / 1e6)} left`,
      );
    }
    expect(tab.problems).toEqual([]);
  });
});
