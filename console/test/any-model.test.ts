// Make: a model that only its schema describes is added, its form is filled, and it runs.
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FakeVendor } from "../../server/test/fake-vendors/fake-vendor.ts";
import { fakeFal } from "../../server/test/fake-vendors/fal.ts";
import { falDocument } from "../../server/test/model-schemas/documents.ts";
import type { TestEnvironment } from "../../server/test/support/test-environment.ts";
import {
  type ConsoleBrowser,
  type ConsoleInstallation,
  startOwnConsoleBrowser,
  type Tab,
} from "./support/console-browser.ts";
import { fieldOf, readRequest, runButtonOf } from "./support/make-steps.ts";

const text = { type: "string" };
const definition = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const FILM = falDocument(
  "acme/boat-film",
  {
    required: ["prompt"],
    "x-fal-order-properties": ["prompt", "duration", "fps", "negative_prompts", "size", "last_frame_url", "weights"],
    properties: {
      weights: { type: "object", additionalProperties: { type: "number" } },
      last_frame_url: { type: "string", ui: { field: "image" } },
      size: { anyOf: [definition("Size"), { type: "string", enum: ["square", "wide"] }], default: "square" },
      negative_prompts: { type: "array", items: text, maxItems: 3 },
      fps: { type: "integer", minimum: 8, maximum: 60, description: "Images per second" },
      duration: { type: "string", enum: ["4s", "8s"], default: "8s" },
      prompt: { type: "string", minLength: 1 },
    },
  },
  {
    output: { required: ["video"], properties: { video: definition("Video") } },
    definitions: {
      Size: { type: "object", properties: { width: { type: "integer" }, height: { type: "integer" } } },
      Video: { type: "object", required: ["url"], properties: { url: text, content_type: text, file_name: text } },
    },
  },
);

let vendor: FakeVendor;
let console: ConsoleBrowser<TestEnvironment & ConsoleInstallation>;
let tab: Tab;
beforeAll(async () => {
  vendor = await fakeFal.start();
  vendor.switches.published["acme/boat-film"] = FILM;
  console = await startOwnConsoleBrowser({ env: { ...fakeFal.env(vendor), PUBLIC_URL_IS_REACHABLE: "true" } });
  // As on a server without the sandbox, which brings models of its own.
  for (const name of ["replay/studio", "replay/clip"]) await console.client.system.removeModel(`sandbox:${name}`);
  tab = await console.signIn({ path: "/?operation=runs.create" });
});
afterAll(async () => {
  await console?.stop();
  await vendor?.close();
});

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const violationsOf = async () =>
  (await new AxeBuilder({ page: tab.page }).withTags(TAGS).analyze()).violations.map(({ id }) => id);

it("says how to get a model, and lets only operators add one", async () => {
  const { key } = await console.client.keys.create({ name: "member", scopes: ["*"] });
  const member = await console.signIn({ path: "/?operation=runs.create", key: key ?? "" });
  await member.page.getByText("No model is imported yet").waitFor();
  await member.page.getByText("Ask the operator of this installation to run:").waitFor();
  await member.page.getByText("gesso models add fal:fal-ai/veo3.1/fast").waitFor();
  expect(await member.page.getByRole("button", { name: "Add a model" }).count()).toBe(0);
  expect(await runButtonOf(member.page).textContent()).toContain("Choose a model first");
  await member.context.close();
});

it("adds a model, with the reason of a refusal at its field and a new login where one is needed", async () => {
  const { page } = tab;
  await page.getByRole("button", { name: "Add a model" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a model" });
  const add = dialog.getByRole("button", { name: "Add model" });
  await dialog.getByLabel("Model").fill("fal:acme/none");
  await add.click();
  await dialog.getByText("fal has no model acme/none.").waitFor();
  expect(await violationsOf()).toEqual([]);

  const refusal = {
    status: 403,
    json: { code: "login_too_old", message: "Sign in again.", details: { method: "key" } },
  };
  await page.route("**/api/v1/catalogue/models", (route) => route.fulfill(refusal), { times: 1 });
  await dialog.getByLabel("Model").fill("fal:acme/boat-film");
  await fieldOf(page, "aliases").getByRole("textbox").fill("boat");
  await dialog.getByLabel("Price").fill("0.4");
  await add.click();
  const stepUp = page.getByRole("dialog", { name: "Sign in again" });
  await stepUp.getByLabel("API key").fill(console.key);
  await stepUp.getByRole("button", { name: "Sign in with key" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^Model fal:acme/ }).waitFor();
});

it("finds a model by its name and the kind of its result", async () => {
  const { page } = tab;
  await page.getByRole("button", { name: /^Model fal:acme/ }).click();
  const search = page.getByRole("dialog", { name: "Search models" });
  await search.getByRole("option", { name: "fal:acme/boat-film" }).waitFor();
  await search.getByLabel("Result", { exact: true }).selectOption("Audio");
  await search.getByText("No imported model matches.").waitFor();
  await search.getByLabel("Result", { exact: true }).selectOption("Video");
  const words = search.locator("input");
  await words.fill("boat");
  const alias = search.getByRole("option").filter({ has: page.getByText("boat", { exact: true }) });
  expect(await alias.textContent()).toContain("$0.40 per call");
  expect(await violationsOf()).toEqual([]);
  await words.focus();
  await page.keyboard.press("Escape");
  await search.waitFor({ state: "detached" });
});

it("has a form in the model's order, whose refusals stand at their fields", async () => {
  const { page } = tab;
  const names = await page
    .locator('[data-field="input"] > [data-field]')
    .evaluateAll((fields) => fields.map((field) => field.getAttribute("data-field")));
  expect(names).toEqual(["prompt", "duration", "fps", "negative_prompts", "size", "last_frame_url", "weights"]);
  expect(await runButtonOf(page).textContent()).toContain("Enter prompt first");
  expect(await runButtonOf(page).textContent()).toContain("$0.40");

  await page.getByRole("textbox", { name: /^Prompt/ }).fill("a boat lands");
  await fieldOf(page, "negative_prompts").getByRole("textbox").click();
  await page.keyboard.type("rain");
  await fieldOf(page, "size").getByRole("combobox").selectOption("Own values");
  await fieldOf(page, "width").getByRole("spinbutton").fill("640");
  await fieldOf(page, "fps").getByRole("spinbutton").fill("4");
  await fieldOf(page, "weights").getByRole("textbox").fill('{"sea": "much"}');
  await runButtonOf(page).click();
  await page.getByText("2 fields need a change.").waitFor();
  expect(await fieldOf(page, "fps").textContent()).toContain("Must be at least 8.");
  expect(await fieldOf(page, "weights").textContent()).toContain("sea: Must be a number.");
  expect(
    await fieldOf(page, "fps")
      .locator("input")
      .evaluate((input) => input === document.activeElement),
  ).toBe(true);
  expect(await violationsOf()).toEqual([]);

  await fieldOf(page, "fps").getByRole("spinbutton").fill("12");
  await page.getByText("1 field needs a change.").waitFor();
  await fieldOf(page, "weights").getByRole("textbox").fill("");
  await fieldOf(page, "duration").getByRole("radio", { name: "4s" }).click();
  await fieldOf(page, "duration").getByRole("radio", { name: "8s" }).click();
});

it("sends only what was set, and shows the result and its parameters", async () => {
  const { page } = tab;
  const input = { prompt: "a boat lands", fps: 12, negative_prompts: ["rain"], size: { width: 640 } };
  expect(await readRequest(page)).toEqual({ model: "fal:acme/boat-film", input });
  await runButtonOf(page).click();
  const newest = async () => (await console.client.runs.list({ limit: 1 })).data[0];
  await expect.poll(newest).toMatchObject({ status: "completed", operation: "runs.create", cost: { amount: 0.4 } });
  expect(vendor.ledger.at(-1)?.request).toEqual(input);
  await page.getByRole("region", { name: "Results" }).getByRole("heading", { name: "a boat lands" }).waitFor();

  const { run_id: runId = "" } = (await newest()) ?? {};
  await tab.open(`/runs/${runId}?tab=inputs`);
  const parameters = page.getByRole("tabpanel");
  await parameters.getByRole("heading", { name: "Parameters" }).waitFor();
  expect(await parameters.textContent()).toContain("negative_promptsrain");
  await page.locator("video").waitFor();

  await tab.open(`/?from=${runId}`);
  await expect.poll(() => fieldOf(page, "fps").getByRole("spinbutton").inputValue()).toBe("12");
  expect(await readRequest(page)).toEqual({ model: "fal:acme/boat-film", input });
  // Requests that were refused are errors of the network to the browser.
  expect(tab.problems.filter((problem) => !problem.includes("Failed to load resource"))).toEqual([]);
});
