// The Run page: failed runs and their retries, unknown outcomes, the timeline, and deliveries of the run's webhooks.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser } from "./support/console-browser.ts";
import { endRun } from "./support/end-run.ts";

const SMALL = { width: 64, height: 64 };

let console: ConsoleBrowser;
beforeAll(async () => {
  console = await startConsoleBrowser();
});
afterAll(() => console?.stop());

describe("the Run page", () => {
  it("[CON-23] explains a failed run, and retries it with the same or another model as a child", async () => {
    const { client, url } = console;
    const failed = await endRun(client, client.images.generate({ prompt: "a lighthouse [sandbox:fail]", ...SMALL }));
    const tab = await console.signIn({ path: `/runs/${failed.run_id}` });
    const card = tab.page.getByRole("alert");
    await card.getByText(failed.error!.message).waitFor();
    await card.getByText("Nothing was charged. The reserve of $0.03 was returned.").waitFor();
    expect(await card.getByRole("code").textContent()).toBe(failed.error!.code);
    const meaning = await card.getByRole("link", { name: "What this error means" }).getAttribute("href");
    expect((await fetch(new URL(meaning ?? "", url))).status).toBe(200);

    expect(failed.attempts?.length).toBeGreaterThan(0);
    for (const attempt of failed.attempts ?? []) {
      const row = tab.page.getByRole("listitem").filter({ hasText: `Attempt ${attempt.try} · ${attempt.provider}` });
      expect(await row.locator("[data-state]").getAttribute("data-state")).toBe(attempt.state);
      if (attempt.state === "failed") await row.getByText(/Failed after \d/).waitFor();
      await row.getByText("$0.03 not charged").waitFor();
      const { method, path, body } = attempt.request as { method: string; path: string; body: unknown };
      await row.getByText(`${method} ${path}`).click();
      expect(JSON.parse((await row.locator("pre").textContent()) ?? "")).toEqual(body);
    }

    await card.getByRole("button", { name: "Try again $0.03" }).click();
    await tab.page.waitForURL((address) => !address.pathname.endsWith(failed.run_id));
    const same = await client.runs.get(runIdOf(tab.page.url()));
    expect(same).toMatchObject({ parent_run_id: failed.run_id, model: failed.model, given: failed.given });

    await tab.open(`/runs/${failed.run_id}`);
    await card.getByLabel("Model").selectOption("vendora");
    await card.getByRole("button", { name: "Try again on vendora $0.25" }).click();
    await tab.page.waitForURL((address) => !address.pathname.endsWith(failed.run_id));
    const other = await client.runs.get(runIdOf(tab.page.url()));
    expect(other).toMatchObject({ parent_run_id: failed.run_id, model: "vendora" });
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });

  it("[CON-24] says that a run with an unknown outcome was not charged", async () => {
    const { client } = console;
    const prompt = "desert dunes [sandbox:drop,no_callback]";
    const run = await endRun(client, client.images.generate({ prompt, model_type: "vendora" }));
    expect(run.error?.code).toBe("provider_outcome_unknown");
    const tab = await console.signIn({ path: `/runs/${run.run_id}` });
    const card = tab.page.getByRole("alert");
    await card.getByRole("heading", { name: "The outcome is unknown" }).waitFor();
    await card.getByText("Nothing was charged. The reserve of $0.25 was returned.").waitFor();
    const attempt = tab.page.getByRole("listitem").filter({ hasText: "Attempt 1 · sandbox" });
    await expect.poll(() => attempt.textContent()).toContain("Outcome unknown");
    await attempt.getByText("$0.25 not charged").waitFor();
    await tab.page.getByText("This run, charged to you").waitFor();
    expect((await client.runs.ledger(run.run_id)).charged).toBe(0);
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });

  it("[CON-25] shows every event in order, and phases that add up to the run's time", async () => {
    const { client } = console;
    const prompt = "a kite [sandbox:delay=2]";
    const run = await endRun(client, client.images.generate({ prompt, ...SMALL }));
    const events: string[] = [];
    for await (const { event_id } of client.runs.events(run.run_id)) events.push(event_id);
    expect(events.length).toBeGreaterThanOrEqual(3);
    const tab = await console.signIn({ path: `/runs/${run.run_id}` });
    const shown = tab.page.locator("[data-event]");
    await expect.poll(() => shown.count()).toBe(events.length);
    expect(await shown.evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.event))).toEqual(events);
    const phases = await tab.page
      .locator("[data-milliseconds]")
      .evaluateAll((parts) => parts.map((part) => Number((part as HTMLElement).dataset.milliseconds)));
    expect(phases).toHaveLength(3);
    const sum = phases.reduce((total, part) => total + part, 0);
    const time = Date.parse(run.finished_at ?? "") - Date.parse(run.created_at);
    expect(Math.abs(sum - time)).toBeLessThanOrEqual(100);
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

const runIdOf = (url: string): string => new URL(url).pathname.split("/").at(-1) ?? "";
