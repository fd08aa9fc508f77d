import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, expect, it } from "vitest";
import { assetFromBytes, imageFromLetters } from "../../../test/support/ascii-images.ts";
import { FREE } from "../../prices/price.ts";
import { providers } from "../all.ts";
import { readProviderFailure } from "../call-provider.ts";
import type { ProviderContext } from "../provider.ts";
import { MODELS_INSTALLATION_VERSION } from "./model-packages.ts";
import { localModels } from "./models.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-models-test-"));
// The model processes run as another user.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));
const isOn = (LOCAL_MODELS_DIR: string) => localModels.env.safeParse({ LOCAL_MODELS_DIR }).success;
const list = (text: string) => writeFileSync(join(folder, "models.json"), text);

it("is disabled if nothing is installed", () => {
  expect(isOn(join(folder, "nowhere"))).toBe(false);
  expect(isOn(folder)).toBe(false);
});

it("is enabled by a complete installation, and disabled by a broken or outdated one", () => {
  list(JSON.stringify({ installation: MODELS_INSTALLATION_VERSION }));
  expect(isOn(folder)).toBe(true);
  list(JSON.stringify({ installation: MODELS_INSTALLATION_VERSION - 1 }));
  expect(isOn(folder)).toBe(false);
  list("{");
  expect(isOn(folder)).toBe(false);
});

it("is preferred to the sandbox", () => {
  const order = providers.map(({ id }) => id);
  expect(order.indexOf("local-models")).toBeLessThan(order.indexOf("sandbox"));
});

it("offers only tasks that run on a CPU, free of charge and repeatable", () => {
  expect(localModels.offers.map(({ task, model, upstreamModel }) => [task, model, upstreamModel])).toEqual([
    ["image.remove-background", "remove-background-default", "isnet"],
    ["image.remove", "remove-default", "telea"],
    ["image.upscale", "upscale-default", "esrgan"],
  ]);
  expect(localModels.offers.every(({ price, recovery }) => price === FREE && recovery === "free")).toBe(true);
});

it("states its limits, and is equivalent to the offers of other providers", () => {
  expect(localModels.offers.map(({ upstreamModel, limits }) => [upstreamModel, limits?.source])).toEqual([
    ["isnet", undefined],
    ["telea", { mostMaskedPixels: 4_000_000 }],
    ["esrgan", { mostPixels: 1_100_000 }],
  ]);
  for (const { task, equivalence } of localModels.offers) {
    const others = providers.filter(({ id }) => id !== "local-models").flatMap(({ offers }) => offers);
    expect(others.filter((offer) => offer.task === task && offer.equivalence === equivalence)).not.toEqual([]);
  }
});

it("refuses an image above the limit of the offer before a process starts, so that another offer gets it", async () => {
  const upscale = localModels.offers.find(({ upstreamModel }) => upstreamModel === "esrgan")!;
  const context = { env: { LOCAL_MODELS_DIR: folder }, timeoutSeconds: 10 } as ProviderContext<unknown>;
  const submit = async (width: number, height: number, offer = upscale) => {
    const { data } = await sharp({ create: { width, height, channels: 3, background: "red" } })
      .png()
      .toBuffer({ resolveWithObject: true });
    const job = { task: offer.task, model: offer.model, images: [assetFromBytes(data)] };
    const thrown = await localModels.submit(job, offer, context).catch((error) => error);
    return { kind: readProviderFailure(thrown).kind, details: thrown.details };
  };
  expect(await submit(1100, 1001)).toEqual({
    kind: "over_limit",
    details: { reason: "image_too_large", most_pixels: 1_100_000 },
  });
  const changed = { ...upscale, limits: { ...upscale.limits, source: { mostPixels: 100 } } };
  expect(await submit(20, 20, changed)).toMatchObject({ kind: "over_limit", details: { most_pixels: 100 } });
});

it("fails only the job if an installation is corrupt", async () => {
  const image = assetFromBytes(await imageFromLetters(["RR", "RR"]));
  const context = { env: { LOCAL_MODELS_DIR: folder }, timeoutSeconds: 10 } as ProviderContext<unknown>;
  for (const offer of localModels.offers) {
    const job = { task: offer.task, model: offer.model, images: [image], mask: image };
    const thrown = await localModels.submit(job, offer, context).catch((error) => error);
    expect(thrown).toMatchObject({ code: "provider_error" });
    expect(readProviderFailure(thrown)).toMatchObject({
      kind: "failed",
      cause: expect.stringContaining("Cannot find module"),
    });
  }
});
