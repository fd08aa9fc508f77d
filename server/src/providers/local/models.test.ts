import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { assetFromBytes, imageFromLetters } from "../../../test/support/ascii-images.ts";
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
  expect(localModels.offers.every(({ price, recovery }) => price === 0 && recovery === "free")).toBe(true);
});

it("upscales only images that a CPU finishes in time; without a known size it tries", () => {
  const { supports } = localModels.offers.find(({ upstreamModel }) => upstreamModel === "esrgan")!;
  expect(supports!({ source_size: { width: 1024, height: 1024 } })).toBe(true);
  expect(supports!({ source_size: { width: 1536, height: 1024 } })).toBe(false);
  expect(supports!({})).toBe(true);
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
}, 30_000);
