// The Compare page: slider, flip, difference, and the pixels that a masked edit changed outside its mask.
import type { Run } from "@gesso/client";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser } from "./support/console-browser.ts";
import { endRun } from "./support/end-run.ts";

let console: ConsoleBrowser;
let source: Run;
let edit: Run;
beforeAll(async () => {
  console = await startConsoleBrowser();
  const { client } = console;
  const prompt = "a lighthouse above the sea";
  source = await endRun(client, client.images.generate({ prompt, width: 384, height: 256, seed: 3 }));
  edit = await endRun(
    client,
    client.images.edit.fluxKontext({
      original_run_id: source.run_id,
      prompt: "make it night",
      model: "flux-kontext-max",
      seed: 3,
    }),
  );
});
afterAll(() => console?.stop());

describe("the Compare page", () => {
  it("[CON-31] compares by slider, by flip and by difference, and lists only inputs that differ", async () => {
    const tab = await console.signIn({ path: `/compare?items=${source.run_id},${edit.run_id}`, hasTouch: true });
    const { page } = tab;
    const slider = page.getByRole("slider", { name: "Border between the images" });
    const position = async () => Number(await slider.getAttribute("aria-valuenow"));
    await slider.focus();
    await page.keyboard.press("ArrowRight");
    expect(await position()).toBe(51);
    await page.keyboard.press("Shift+ArrowLeft");
    expect(await position()).toBe(41);
    await page.keyboard.press("End");
    expect(await position()).toBe(100);
    const box = (await slider.locator("xpath=..").boundingBox())!;
    await page.mouse.click(box.x + box.width * 0.25, box.y + box.height / 2);
    await expect.poll(position).toBe(25);
    await page.touchscreen.tap(box.x + box.width * 0.75, box.y + box.height / 2);
    await expect.poll(position).toBe(75);

    await page.getByRole("img", { name: "First image" }).waitFor();
    await page.locator("body").press("m");
    await page.locator("body").press("m");
    const second = page.getByRole("img", { name: "Second image" });
    expect(await second.isVisible()).toBe(false);
    const flip = page.getByRole("button", { name: "Hold to show the second image" });
    await flip.focus();
    await page.keyboard.down("Space");
    await second.waitFor({ state: "visible" });
    expect(await page.getByRole("img", { name: "First image" }).isVisible()).toBe(false);
    await page.keyboard.up("Space");
    await second.waitFor({ state: "hidden" });
    await flip.hover();
    await page.mouse.down();
    await second.waitFor({ state: "visible" });
    await page.mouse.up();
    await second.waitFor({ state: "hidden" });

    await page.locator("body").press("m");
    const difference = page.getByRole("img", { name: "Difference of both images" });
    await difference.waitFor();
    const blend = difference.locator("xpath=following-sibling::img");
    expect(await blend.evaluate((image) => getComputedStyle(image).mixBlendMode)).toBe("difference");

    const fields = await page
      .locator("aside dl > div")
      .evaluateAll((rows) => rows.map((row) => row.querySelector("dt")?.textContent ?? ""));
    expect(fields).toEqual([...fieldsThatDiffer(source, edit), "Cost", "Time"]);
    expect(fields).not.toContain("Seed");
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });

  it("[CON-32] says how many pixels a masked edit changed outside its mask", async () => {
    const { client } = console;
    const mask = await endRun(client, client.images.segmentImage({ run_id: source.run_id, prompt: "the lighthouse" }));
    const masked = await endRun(
      client,
      client.edit.maskImage({
        original_image_url: source.run_id,
        mask_image_url: mask.run_id,
        prompt: "a blue lighthouse",
      }),
    );
    const [before, after] = [await readPixels(source), await readPixels(masked)];
    const grey = await sharp(await readFile(mask))
      .toColourspace("b-w")
      .raw()
      .toBuffer();
    const counts = countChanged(before, after, grey);
    expect(counts.outside).toBe(0);
    expect(counts.inside).toBeGreaterThan(0);

    const tab = await console.signIn({ path: `/compare?items=${source.run_id},${masked.run_id}` });
    await tab.page.getByText(`Outside the mask: ${counts.outside} pixels changed.`).waitFor();
    await tab.page.getByText(`Inside: ${counts.inside.toLocaleString("en")} pixels changed.`).waitFor();
    await tab.open(`/runs/${masked.run_id}`);
    await tab.page.getByText(`Outside the mask: ${counts.outside} pixels changed`).waitFor();
    // Without a mask, the same count is not zero: the edit changed the image.
    await tab.open(`/compare?items=${mask.run_id},${masked.run_id}`);
    await tab.page.getByText(/^[1-9][\d.]* % · [\d,]+ pixels$/).waitFor();
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

function fieldsThatDiffer(first: Run, second: Run): string[] {
  const [one, other] = [first, second].map(({ given, model }) => ({ ...given, model }) as Record<string, unknown>);
  const names = [...new Set([...Object.keys(one!), ...Object.keys(other!)])];
  const order = (name: string) => ["prompt", "model", "seed"].indexOf(name) + 1 || 4;
  return names
    .filter((name) => JSON.stringify(one![name]) !== JSON.stringify(other![name]))
    .sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1))
    .map((name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " "));
}

const readFile = async ({ image_url }: Run) => Buffer.from(await (await fetch(image_url ?? "")).arrayBuffer());
const readPixels = async (run: Run) =>
  sharp(await readFile(run))
    .ensureAlpha()
    .raw()
    .toBuffer();

function countChanged(before: Buffer, after: Buffer, mask: Buffer) {
  const counts = { inside: 0, outside: 0 };
  for (let pixel = 0; pixel < mask.length; pixel++) {
    const isEqual = before.subarray(pixel * 4, pixel * 4 + 4).equals(after.subarray(pixel * 4, pixel * 4 + 4));
    if (!isEqual) counts[mask[pixel]! > 0 ? "inside" : "outside"]++;
  }
  return counts;
}
