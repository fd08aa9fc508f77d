// Make: the forms are those of the contract, their rules and errors are at the fields, and the price is on the button.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";
import { fieldOf, follow, openEmptyForm, promptOf, runButtonOf, trayOf } from "./support/make-steps.ts";

type RunOperation = { operationId: string; "x-run-type"?: string; requestBody?: object };
type Contract = { paths: Record<string, Record<string, RunOperation>> };

const contract: Contract = JSON.parse(readFileSync(new URL("../../api/openapi.json", import.meta.url), "utf8"));
const runOperations = Object.values(contract.paths)
  .flatMap((methods) => Object.values(methods))
  .filter((operation) => operation["x-run-type"]);
const jsonFieldsOf = ({ requestBody }: RunOperation): string[] => {
  const { content } = requestBody as { content: Record<string, { schema: { properties: object } }> };
  return Object.keys(content["application/json"]?.schema.properties ?? {});
};
const START = "**/console/api/v1/runs/generate";

let console: ConsoleBrowser;
let tab: Tab;
beforeAll(async () => {
  console = await startConsoleBrowser();
  tab = await console.signIn();
});
afterAll(() => console?.stop());

/** A form without a draft of an earlier test. */
const openForm = async (search = "") => {
  await openEmptyForm(tab.page, search);
  return tab.page;
};

describe("[CON-11] the forms", () => {
  it("are those of all 25 run operations, with exactly the fields of the contract", async () => {
    const page = await openForm();
    expect(runOperations).toHaveLength(25);
    for (const operation of runOperations) {
      await follow(page, `/?operation=${operation.operationId}`);
      const shown = () =>
        page
          .locator("form [data-field]:not([data-field] [data-field])")
          .evaluateAll((fields) => fields.map((field) => field.getAttribute("data-field")));
      await expect
        .poll(async () => (await shown()).sort(), { message: operation.operationId })
        .toEqual(jsonFieldsOf(operation).sort());
    }
  });
});

describe("[CON-12] the rules of a model", () => {
  it("make model_id, width and height required for wan-image-2.1 and fix batch_size to 2", async () => {
    const page = await openForm("?operation=images.generate&model=wan-image-2.1");
    for (const name of ["model_id", "width", "height"]) {
      const control = fieldOf(page, name).locator("input");
      await control.waitFor({ state: "visible" });
      expect(await control.getAttribute("aria-required")).toBe("true");
    }
    const count = fieldOf(page, "batch_size");
    expect(await count.textContent()).toContain("Always 2 with wan-image-2.1.");
    expect(await count.getByRole("radio", { checked: true }).textContent()).toBe("2");
    expect(await count.getByRole("radio", { disabled: true }).count()).toBe(4);
  });

  it("mark the fields that the chosen model does not use", async () => {
    const page = await openForm("?operation=images.generate&model=nanobanana");
    expect(await fieldOf(page, "steps").textContent()).toContain("nanobanana does not use this field.");
    expect(await fieldOf(page, "seed").textContent()).not.toContain("does not use");
  });
});

describe("[CON-13] refusals", () => {
  it("land at their fields all at once, and the first has the focus", async () => {
    const page = await openForm("?operation=images.generate");
    await promptOf(page).fill("a paper boat");
    await page.locator("summary", { hasText: "Advanced" }).click();
    await fieldOf(page, "width").locator("input").fill("10");
    await fieldOf(page, "steps").locator("input").fill("999");
    await page.locator("summary", { hasText: "Request and delivery" }).click();
    await fieldOf(page, "webhook_url").locator("input").fill("no URL");
    await runButtonOf(page).click();
    for (const name of ["width", "steps", "webhook_url"]) {
      await expect.poll(() => fieldOf(page, name).locator("[id$=-error]").textContent()).toBeTruthy();
    }
    const focused = () =>
      page.evaluate(() => document.activeElement?.closest("[data-field]")?.getAttribute("data-field"));
    await expect.poll(focused).toBe("width");
    await page.getByText("3 fields need a change.").waitFor();
    await fieldOf(page, "width").locator("input").fill("512");
    await expect.poll(() => fieldOf(page, "width").locator("[id$=-error]").count()).toBe(0);
  });
});

/** Chooses a number of images. Runs in the page. */
const chooseCount = (label: string): void => {
  const counts = [...document.querySelectorAll<HTMLElement>('[data-field="batch_size"] [role="radio"]')];
  counts.find(({ textContent }) => textContent === label)!.click();
};

describe("[CON-14] the price", () => {
  it("stands on the button, asked once within 300 ms of the last of several changes", async () => {
    const own = await console.signIn();
    const { page } = own;
    const asked: unknown[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/estimate")) asked.push(request.postDataJSON());
    });
    await page.clock.install();
    await own.open("/?operation=images.generate");
    await promptOf(page).fill("a paper boat");
    // The price is asked before there is a prompt, too.
    const withPrompt = expect.objectContaining({ input: expect.objectContaining({ prompt: "a paper boat" }) });
    await expect.poll(() => asked).toContainEqual(withPrompt);
    await expect.poll(() => runButtonOf(page).textContent()).toContain("$0.03");

    await page.clock.pauseAt(Date.now() + 1000);
    asked.length = 0;
    for (const count of ["4", "2", "3"]) {
      await page.evaluate(chooseCount, count);
      // A request of this page comes after all that the choice has sent.
      await page.evaluate(() => fetch("/console/session").then(({ status }) => status));
    }
    expect(asked).toEqual([]);
    await page.clock.runFor(300);
    await page.evaluate(() => fetch("/console/session").then(({ status }) => status));
    expect(asked).toEqual([expect.objectContaining({ input: expect.objectContaining({ batch_size: 3 }) })]);
    await page.clock.resume();
    await expect.poll(() => runButtonOf(page).textContent()).toContain("$0.09");
    expect(asked).toHaveLength(1);
    await own.context.close();
  });

  it("says that it is unknown", async () => {
    const page = await openForm("?operation=images.generate&model=nanobanana");
    await expect.poll(() => runButtonOf(page).textContent()).toContain("unknown");
  });

  it("is the most that the completed run costs", async () => {
    const page = await openForm("?operation=images.generate");
    await promptOf(page).fill("a priced paper boat");
    await expect.poll(() => runButtonOf(page).textContent()).toContain("$0.03");
    await runButtonOf(page).click();
    const find = async () => (await console.client.runs.list({ q: "priced paper boat" })).data[0];
    await expect.poll(async () => (await find())?.status).toBe("completed");
    expect((await find())?.cost?.amount).toBeLessThanOrEqual(0.03);
  });

  it("divides one cost cap among the models", async () => {
    const page = await openForm("?operation=images.generate");
    await promptOf(page).fill("a capped paper boat");
    await page.getByRole("button", { name: "Try on another model too" }).click();
    await page.getByRole("button", { name: /Model/ }).nth(1).click();
    await page.getByRole("option", { name: /vendora/ }).click();
    await fieldOf(page, "max_cost").locator("input").last().fill("0.5");
    await expect.poll(() => runButtonOf(page).textContent()).toMatch(/Run on 2 models.*\$0\.28/);
    await runButtonOf(page).click();
    const list = async () => (await console.client.runs.list({ q: "capped paper boat" })).data;
    await expect.poll(async () => (await list()).length).toBe(2);
    const caps = (await list()).map(({ given }) => given?.max_cost as number);
    expect(caps.reduce((sum, cap) => sum + cap, 0)).toBeCloseTo(0.5, 6);
  });
});

describe("[CON-15] a press of Run", () => {
  it("shows a tile in the tray before the server responds, and three clicks make one run", async () => {
    const page = await openForm("?operation=images.generate");
    const prompt = "a kite pressed thrice";
    await promptOf(page).fill(prompt);
    let respond = () => {};
    const isAllowed = new Promise<void>((resolve) => {
      respond = resolve;
    });
    await page.route(START, async (route) => {
      await isAllowed;
      await route.continue();
    });
    const button = runButtonOf(page);
    await button.click();
    const tile = trayOf(page).getByText(prompt);
    await tile.waitFor();
    for (const _ of [2, 3]) await button.dispatchEvent("click");
    respond();
    const list = async () => (await console.client.runs.list({ q: prompt })).data;
    await expect.poll(async () => (await list())[0]?.status).toBe("completed");
    expect(await list()).toHaveLength(1);
    const link = trayOf(page).getByRole("link", { name: new RegExp(prompt) });
    await expect.poll(() => link.count()).toBe(1);
    await page.unroute(START);
  });
});
