// Prices with every provider: each ordinary request has a price or a bound, the bound is reserved, and what the
// provider reports is charged. The providers bill by their own books.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeVendors } from "../fake-vendors/all.ts";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { drawScene } from "../support/scene.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

let environment: TestEnvironment;
const vendors: FakeVendor[] = [];
let image: string;

beforeAll(async () => {
  const settings = { SANDBOX_URL: "", PUBLIC_URL_IS_REACHABLE: "true", FETCH_ALLOW_ORIGINS: "" };
  for (const definition of fakeVendors) {
    const vendor = await definition.start();
    vendors.push(vendor);
    Object.assign(settings, definition.env(vendor));
  }
  environment = await startTestEnvironment({ env: settings });
});

afterAll(async () => {
  await environment?.stop();
  await Promise.all(vendors.map((vendor) => vendor.close()));
});

/** A tenant with an image, and a limit for the day. */
async function limitedTenant(spend_per_day: number) {
  const tenant = await createTestTenant(environment, { limits: { spend_per_day } });
  const form = new FormData();
  form.set("file", new File([new Uint8Array(await drawScene())], "scene.png", { type: "image/png" }));
  const { body } = await tenant.caller.post("/upload", form);
  image = (body.data as { run_id: string }).run_id;
  return tenant;
}

const PROMPT = "a lighthouse by the sea";
const SIZE = { width: 1024, height: 1024 };
const generate = (model_type: string, more: object = {}) =>
  ["images.generate", "/runs/generate", { prompt: PROMPT, model_type, ...more }] as const;
/** What applications ask for every day. */
const ORDINARY = () =>
  [
    generate("flux-dev", SIZE),
    generate("vendora", SIZE),
    generate("nanobanana"),
    generate("flux-kontext-max"),
    generate("vendorb-imagen4", { aspect_ratio: "16:9" }),
    generate("qwen-image-edit", SIZE),
    ["images.edit.vendora", "/edits/vendora", { prompt: PROMPT, run_id: image }],
    ["images.edit.nanobanana", "/edits/nanobanana", { prompt: PROMPT, run_id: image }],
    ["images.removeBackground", "/edits/remove-bg", { run_id: image }],
    ["images.upscale", "/edits/upscale", { run_id: image }],
    ["generateVideo", "/runs/video", { prompt: PROMPT, source_run_id: image }],
    ["prompts.enhance", "/prompts/enhance", { prompt: PROMPT }],
  ] as const;

describe("with every provider and a limit of a dollar a day", () => {
  it("twelve ordinary requests have a price, and only those that exceed what is left of the limit are refused", async () => {
    const { caller } = await limitedTenant(1);
    const outcomes: [operation: string, amount: number, outcome: string][] = [];
    for (const [operation, path, input] of ORDINARY()) {
      const { body: estimate } = await caller.post("/runs/estimate", { operation, input });
      expect(estimate, operation).toMatchObject({ known: true, amount: expect.any(Number) });
      // Runs that end meanwhile give a part of their bound back, so this is the most that can be used.
      const { body: usage } = await caller.get("/usage");
      const { status, body } = await caller.post(path, { ...input, sync: false });
      const isRefused = status === 402;
      outcomes.push([operation, estimate.amount, isRefused ? body.code : "accepted"]);
      if (isRefused) {
        expect([body.code, body.details?.limit], operation).toEqual(["spend_limit_reached", "day"]);
        expect(usage.budgets[0].day.used + estimate.amount, operation).toBeGreaterThan(1);
      } else expect(status, operation).toBe(202);
    }
    console.log(outcomes.map((each) => each.join("  ")).join("\n"));
    expect(outcomes.filter(([, , outcome]) => outcome === "accepted").length).toBeGreaterThanOrEqual(10);
  });
});

describe("a provider that bills by tokens", () => {
  it.each([
    // The fake of OpenAI counts 4 characters, and squares of 32 pixels, as a token.
    ["vendora", { ...SIZE }, 6 * 0.000005 + 1024 * 0.00003],
    // The fake of Gemini has 1,120 tokens for an image and 30 for its thoughts.
    ["nanobanana", {}, 6 * 0.0000015 + 30 * 0.0000075 + 1120 * 0.00003],
  ])("%s: reserves the bound, and charges the tokens that it reports", async (model_type, more, cost) => {
    const tenant = await limitedTenant(1);
    const input = { prompt: PROMPT, model_type, ...more };
    const { body: estimate } = await tenant.caller.post("/runs/estimate", { operation: "images.generate", input });
    const { body: run } = await tenant.caller.post("/runs/generate", { ...input, sync: true });
    expect([run.status, run.error]).toEqual(["completed", null]);
    expect(run.cost.amount).toBeCloseTo(cost, 6);
    expect(estimate).toMatchObject({ known: true, at_most: true });
    expect(estimate.amount).toBeGreaterThan(run.cost.amount);
    const ledger = await tenant.caller.get(`/runs/${run.run_id}/ledger`);
    expect(ledger.body).toMatchObject({ charged: run.cost.amount });
  });
});
