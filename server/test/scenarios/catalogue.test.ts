// The operator's catalogue in a running Gesso: models it binds are available, offers it disables are not, its prices
// are charged; and an invalid file prevents the start.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpCaller } from "../support/api-caller.ts";
import { bundlePrograms } from "../support/bundled-programs.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const { server: MAIN } = await bundlePrograms();
const FILE = `
providers:
  sandbox: { concurrent: 2 }
models:
  vendorc:
    - { provider: sandbox, like: flux-dev, as: replay/vendorc, price: 0.5, per: megapixel }
  flux-dev:
    - { provider: sandbox, price: 0.03, price_version: ours }
  nanobanana:
    - { provider: sandbox, enabled: off }
  seedream-5:
    - { provider: sandbox, like: flux-dev, as: replay/seedream, price: 0.25 }
`;

const folder = mkdtempSync(join(tmpdir(), "gesso-catalogue-"));
const file = join(folder, "gesso.yaml");
let world: TestEnvironment;

beforeAll(async () => {
  writeFileSync(file, FILE);
  world = await startTestEnvironment({ env: { GESSO_CONFIG: file } });
});
afterAll(async () => {
  await world?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const generate = (input: object) => createHttpCaller(world).generate({ prompt: "a paper boat", sync: true, ...input });

describe("the operator's file", () => {
  it("binds a model that no provider offers, and prices it by its output", async () => {
    const { status, body } = await generate({ model_type: "vendorc", width: 1600, height: 1600 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "completed", model: "vendorc", provider: "sandbox" });
    expect(body.outputs[0]).toMatchObject({ width: 1600, height: 1600 });
    expect(body.cost).toEqual({ amount: 1.28, currency: "USD" });
  });

  it("adds names of its own, for every operation that the copied offer can do", async () => {
    const { body } = await generate({ model_type: "seedream-5" });
    expect(body).toMatchObject({ status: "completed", model: "seedream-5", cost: { amount: 0.25 } });
    const { status, body: refused } = await generate({ model_type: "seedream-6" });
    expect(status).toBe(400);
    expect(refused.details.errors).toEqual([
      {
        ...{ path: "/model_type", code: "unknown_value" },
        message: expect.stringMatching(/^There is no model seedream-6 here\. Nearest names: seedream-5, /),
      },
    ]);
    const { body: listed } = await createHttpCaller(world).get("/runs?model=seedream-5");
    expect(listed.data.map(({ model }: any) => model)).toEqual(["seedream-5"]);
  });

  it("leaves the provider's own name of each offer to requests, on every operation", async () => {
    const { body: image } = await generate({ model_type: "sandbox:replay/seedream" });
    expect(image).toMatchObject({ status: "completed", model: "sandbox:replay/seedream", cost: { amount: 0.25 } });
    const vary = (model: string) =>
      createHttpCaller(world).post("/edits/vary", { run_id: image.run_id, n: 1, model, sync: true });
    expect((await vary("gemini-2.5")).body).toMatchObject({ status: "completed", model: "gemini-2.5" });
    const { status, body } = await vary("seedream-5");
    expect([status, body.details.errors[0].path]).toEqual([400, "/model"]);
    expect(body.details.errors[0].message).toMatch(/^seedream-5 does not do image\.edit\. Nearest names: /);
  });

  it("is what callers read as the catalogue, without offers that it disables", async () => {
    const { status, body } = await createHttpCaller(world).get("/catalogue");
    expect(status).toBe(200);
    const offersOf = (model: string) => body.models.find((each: any) => each.model === model)?.offers ?? [];
    const bound = { provider: "sandbox", upstream: "replay/vendorc", price: 0.5, per: "megapixel", preferred: true };
    expect(offersOf("vendorc")).toMatchObject([bound]);
    expect(offersOf("flux-dev")[0]).toMatchObject({ provider: "sandbox", price: 0.03, per: "image" });
    expect(offersOf("nanobanana").filter((offer: any) => offer.provider === "sandbox")).toEqual([]);
  });

  it("prices what was there, in estimates and in runs alike", async () => {
    const input = { prompt: "a paper boat", batch_size: 2 };
    const estimate = await createHttpCaller(world).post("/runs/estimate", { operation: "images.generate", input });
    expect(estimate.body).toMatchObject({
      amount: 0.06,
      basis: [{ what: "image.generate flux-dev, per image", quantity: 2, unit_price: 0.03, price_version: "ours" }],
    });
    const { body } = await generate({ batch_size: 2 });
    expect(body.cost).toEqual({ amount: 0.06, currency: "USD" });
  });

  it("removes the offers that it disables", async () => {
    const { status, body } = await generate({ model_type: "nanobanana" });
    expect([status, body.code]).toEqual([503, "model_unavailable"]);
  });

  it("prevents the start if it is invalid, with the line, the column and a suggestion", () => {
    writeFileSync(join(folder, "wrong.yaml"), `${FILE}  flux-def: [sandbox]\n`);
    const environment = {
      ...{ PATH: process.env.PATH, DATABASE_URL: world.databaseUrl, GESSO_SECRET: "x".repeat(32) },
      GESSO_CONFIG: "wrong.yaml",
    };
    const { status, stderr } = spawnSync(process.execPath, [MAIN], { cwd: folder, env: environment, encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toBe("The catalogue is invalid:\nwrong.yaml:13:3 unknown model flux-def; did you mean flux-dev?\n");
  });
});
