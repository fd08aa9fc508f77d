import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { operations } from "../../server/src/operations/all.ts";
import { providers } from "../../server/src/providers/all.ts";
import { CONTRACTS, findPackage } from "../../server/test/vendor-contracts/contracts.ts";
import { generatePublishedModels, listFalModels, listRunwayModels } from "./published-models.ts";

const offersOf = (id: string) => providers.find((provider) => provider.id === id)!.offers;

it("the page has every model that Runway's package names for images and videos", async () => {
  const text = await generatePublishedModels();
  const folder = join(findPackage(CONTRACTS.runway!.package), "resources");
  const files = [
    "text-to-image",
    "image-upscale",
    "text-to-video",
    "image-to-video",
    "video-to-video",
    "video-upscale",
  ];
  const named = files.flatMap((file) =>
    [...readFileSync(join(folder, `${file}.d.ts`), "utf8").matchAll(/^ +model: '([^']+)';/gm)].map(
      ([, model]) => model!,
    ),
  );
  expect(new Set(named).size).toBeGreaterThanOrEqual(28);
  for (const model of named) expect(text, model).toContain(`\`${model}\``);
});

it("the page has every endpoint of an offer that fal's package has, for the operation of its task", async () => {
  const { models } = await listFalModels();
  const listed = new Set(models.map(({ name }) => name));
  expect(models.length).toBeGreaterThan(500);
  const wrong = offersOf("fal").flatMap(({ task, upstreamModel, lifecycle }) => {
    const isMedia = /^(image\.(generate|edit|upscale|remove|remove-background|reframe)|video\.generate)$/.test(task);
    return !listed.has(upstreamModel) && isMedia && lifecycle?.state !== "retired" ? [upstreamModel] : [];
  });
  // fal documents these, and its package does not have them.
  expect([...new Set(wrong)]).toEqual([
    ...["openai/gpt-image-2.5/flare/text-to-image", "openai/gpt-image-2.5/flare/edit"],
    ...["google/nano-banana-2.1", "google/nano-banana-2.1/edit", "fal-ai/flux-pro/v1/erase"],
  ]);
});

it("every operation of the page exists, and every offer of Runway is in it", async () => {
  const names = operations.map(({ name }) => name);
  for (const { operation } of (await listFalModels()).models) expect(names).toContain(operation);
  const text = await generatePublishedModels();
  for (const { upstreamModel, model } of offersOf("runway")) {
    expect(text, upstreamModel).toMatch(new RegExp(`\`${upstreamModel}\` .*\`${model}\``));
  }
  expect((await listRunwayModels()).version).toMatch(/^\d+\.\d+\.\d+$/);
});
