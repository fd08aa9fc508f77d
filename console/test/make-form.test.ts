// Make: the forms are those of the contract, their rules and errors are at the fields, and the price is on the button.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";
import {
  eventually,
  fieldOf,
  follow,
  openEmptyForm,
  promptOf,
  runButtonOf,
  trayOf,
  writeCatalogue,
} from "./support/make-steps.ts";
import { speedLimit } from "./support/speed.ts";

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

const PRICED = ["flux-dev", "nanobanana"];
const CATALOGUE = [
  "models:",
  ...PRICED.map((model) => `  ${model}:\n    - provider: sandbox\n      price: 0.02\n      per: image`),
  "  vendora:\n    - provider: sandbox\n      price: unknown",
];
const MAX_PRICE_MS = speedLimit(300);
const MAX_TILE_MS = speedLimit(150);

vi.setConfig({ testTimeout: 120_000 });

let console: ConsoleBrowser;
let tab: Tab;
beforeAll(async () => {
  console = await startConsoleBrowser({ env: { GESSO_CONFIG: writeCatalogue(CATALOGUE) } });
  tab = await console.signIn();
});
afterAll(() => console?.stop());

/** A form without a draft of an earlier test. */
const openForm = async (search = "") => {
  await openEmptyForm(tab.page, search);
  return tab.page;
};

describe("[CON-11] the forms", () => {
  it("are those of all 22 run operations, with exactly the fields of the contract", async () => {
    const page = await openForm();
    expect(runOperations).toHaveLength(22);
    for (const operation of runOperations) {
      await follow(page, `/?operation=${operation.operationId}`);
      const shown = () =>
        page
          .locator("form [data-field]:not([data-field] [data-field])")
          .evaluateAll((fields) => fields.map((field) => field.getAttribute("data-field")));
      await eventually(async () => (await shown()).sort(), operation.operationId).toEqual(
        jsonFieldsOf(operation).sort(),
      );
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
      await eventually(() => fieldOf(page, name).locator("[id$=-error]").textContent()).toBeTruthy();
    }
    const focused = () =>
      page.evaluate(() => document.activeElement?.closest("[data-field]")?.getAttribute("data-field"));
    await eventually(focused).toBe("width");
    await page.getByText("3 fields need a change.").waitFor();
    await fieldOf(page, "width").locator("input").fill("512");
    await eventually(() => fieldOf(page, "width").locator("[id$=-error]").count()).toBe(0);
  });
});

/** Chooses a number of images and returns the milliseconds until the button has the price. */
const measurePrice = (page: Page, count: string, price: string): Promise<number> =>
  page.evaluate(
    ([label, expected]) =>
      new Promise<number>((resolve) => {
        const button = document.querySelector('form button[type="submit"]')!;
        const began = performance.now();
        new MutationObserver((_, observer) => {
          if (!button.textContent?.includes(expected)) return;
          observer.disconnect();
          resolve(performance.now() - began);
        }).observe(button, { subtree: true, childList: true, characterData: true });
        const counts = [...document.querySelectorAll<HTMLElement>('[data-field="batch_size"] [role="radio"]')];
        counts.find(({ textContent }) => textContent === label)!.click();
      }),
    [count, price] as const,
  );

describe("[CON-14] the price", () => {
  it("[CON-14] the price stands on the button within 300 ms of the last change, or says that it is unknown", async () => {
    const page = await openForm("?operation=images.generate");
    await promptOf(page).fill("a paper boat");
    await eventually(() => runButtonOf(page).textContent()).toContain("$0.02");
    const counts = [4, 2, 3];
    const measure = async () => {
      const count = counts.shift() ?? 1;
      counts.push(count);
      return measurePrice(page, String(count), `$0.0${count * 2}`);
    };
    // The best of several: a shared machine delays single measurements.
    await eventually(measure).toBeLessThanOrEqual(MAX_PRICE_MS);
    await openForm("?operation=images.generate&model=vendora");
    await eventually(() => runButtonOf(page).textContent()).toContain("unknown");
  });

  it("is the most that the completed run costs", async () => {
    const page = await openForm("?operation=images.generate");
    await promptOf(page).fill("a priced paper boat");
    await eventually(() => runButtonOf(page).textContent()).toContain("$0.02");
    await runButtonOf(page).click();
    const find = async () => (await console.client.runs.list({ q: "priced paper boat" })).data[0];
    await eventually(async () => (await find())?.status).toBe("completed");
    expect((await find())?.cost?.amount).toBeLessThanOrEqual(0.02);
  });

  it("divides one cost cap among the models", async () => {
    const page = await openForm("?operation=images.generate");
    await promptOf(page).fill("a capped paper boat");
    await page.getByRole("button", { name: "Try on another model too" }).click();
    await page.getByRole("button", { name: /Model/ }).nth(1).click();
    await page.getByRole("option", { name: /nanobanana/ }).click();
    await fieldOf(page, "max_cost").locator("input").last().fill("0.1");
    await eventually(() => runButtonOf(page).textContent()).toMatch(/Run on 2 models.*\$0\.04/);
    await runButtonOf(page).click();
    const list = async () => (await console.client.runs.list({ q: "capped paper boat" })).data;
    await eventually(async () => (await list()).length).toBe(2);
    const caps = (await list()).map(({ given }) => given?.max_cost as number);
    expect(caps.reduce((sum, cap) => sum + cap, 0)).toBeCloseTo(0.1, 6);
  });
});

/** Presses Run three times within 200 ms and returns the milliseconds until the tray has a tile with these words. */
const pressThrice = (page: Page, words: string): Promise<number> =>
  page.evaluate(
    (expected) =>
      new Promise<number>((resolve) => {
        const button = document.querySelector<HTMLElement>('form button[type="submit"]')!;
        const tray = document.querySelector("aside")!;
        const began = performance.now();
        new MutationObserver((_, observer) => {
          if (!tray.textContent?.includes(expected)) return;
          observer.disconnect();
          resolve(performance.now() - began);
        }).observe(tray, { subtree: true, childList: true });
        for (const delay of [0, 90, 180]) setTimeout(() => button.click(), delay);
      }),
    words,
  );

describe("[CON-15] a press of Run", () => {
  it("shows a tile in the tray within 150 ms, and three clicks in 200 ms make one run", async () => {
    const page = await openForm("?operation=images.generate");
    const prompts: string[] = [];
    const press = async () => {
      const prompt = `kite${prompts.length} pressed thrice`;
      prompts.push(prompt);
      await promptOf(page).fill(prompt);
      return pressThrice(page, prompt);
    };
    // The best of several: a shared machine delays single measurements.
    await eventually(press).toBeLessThanOrEqual(MAX_TILE_MS);
    for (const prompt of prompts) {
      const list = async () => (await console.client.runs.list({ q: prompt })).data;
      await eventually(async () => (await list())[0]?.status).toBe("completed");
      expect(await list()).toHaveLength(1);
    }
    const last = prompts.at(-1) ?? "";
    await eventually(() =>
      trayOf(page)
        .getByRole("link", { name: new RegExp(last) })
        .count(),
    ).toBe(1);
  });
});
