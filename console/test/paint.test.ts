// Paint: masks by pointer, touch, pen, numbers and words, and edits within them.
import { readFile } from "node:fs/promises";
import type { CDPSession, Locator, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";
import { readDownload } from "./support/downloads.ts";

/** The strokes of the first test as the mask code paints them without a browser, in Node. */
const FIXTURE = new URL("fixtures/paint-strokes.png", import.meta.url);
const SIZE = { width: 480, height: 360 };
const UPLOAD = "**/console/api/v1/upload";

let console: ConsoleBrowser;
/** An upload without anything to find, and a drawing with a lighthouse. */
let plainRunId: string;
let drawingRunId: string;

beforeAll(async () => {
  console = await startConsoleBrowser();
  const image = sharp({ create: { ...SIZE, channels: 3, background: "#3a6ea5" } });
  const file = new File([new Uint8Array(await image.png().toBuffer())], "plain.png", { type: "image/png" });
  plainRunId = (await console.client.images.upload({ file })).data.run_id;
  const drawing = await console.client.images.generate({ prompt: "a lighthouse above the sea", seed: 7 }).wait();
  drawingRunId = drawing.run_id;
});
afterAll(() => console?.stop());

const stageOf = (page: Page) => page.getByRole("region", { name: /^Image:/ });
const numberField = (page: Page, name: string) => page.getByRole("spinbutton", { name, exact: true });
const zoomButton = (page: Page) => page.getByRole("button", { name: /^Zoom:/ });

async function openPaint(tab: Tab, runId: string): Promise<void> {
  await tab.open(`/paint/${runId}`);
  await stageOf(tab.page).waitFor();
  await zoomButton(tab.page).waitFor();
}

/** Returns where a pixel of the image is on the page, as long as the view stays. */
async function locatePixels(page: Page): Promise<(x: number, y: number) => [x: number, y: number]> {
  const box = (await stageOf(page).locator("figure").boundingBox())!;
  return (x, y) => [box.x + (x * box.width) / SIZE.width, box.y + (y * box.height) / SIZE.height];
}

async function drawStroke(page: Page, ...points: [x: number, y: number][]): Promise<void> {
  const locate = await locatePixels(page);
  const [first, ...rest] = points.map(([x, y]) => locate(x, y));
  await page.mouse.move(...first!);
  await page.mouse.down();
  for (const point of rest) await page.mouse.move(...point);
  await page.mouse.up();
}

/** The file that "Save mask" writes. */
async function saveMask(page: Page): Promise<Buffer> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save mask" }).click();
  return readDownload(await download);
}

async function readMask(file: Buffer): Promise<{ width: number; height: number; values: Buffer }> {
  const { data, info } = await sharp(file).toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, values: data };
}

const boundsOf = async (page: Page) => {
  const [x, y, width, height] = await Promise.all(
    ["X", "Y", "W", "H"].map((name) => numberField(page, name).inputValue()),
  );
  return { x: Number(x), y: Number(y), width: Number(width), height: Number(height) };
};

/** Presses a key while a field has no focus. */
async function pressOnStage(page: Page, key: string, times = 1): Promise<void> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  for (let press = 0; press < times; press++) await page.keyboard.press(key);
}

/** Waits for the sentence about the result and returns its run. */
async function waitForResult(page: Page): Promise<string> {
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText(/^Outside the mask:/).waitFor();
  const link = await result.getByRole("link", { name: "Open run" }).getAttribute("href");
  return link!.split("/").at(-1)!;
}

/** How many pixels differ where the mask is black, by sharp. */
async function countOutside(runId: string, originalId: string): Promise<number> {
  const { client } = console;
  const [run, original] = await Promise.all([client.runs.get(runId), client.runs.get(originalId)]);
  const mask = await client.runs.get(String(run.given?.mask_image_url));
  const load = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
  const [before, after] = await Promise.all(
    [original, run].map(async ({ outputs }) =>
      sharp(await load(outputs[0]!.url))
        .ensureAlpha()
        .raw()
        .toBuffer(),
    ),
  );
  const { values } = await readMask(await load(mask.outputs[0]!.url));
  const isChanged = (pixel: number) =>
    !before!.subarray(pixel * 4, pixel * 4 + 4).equals(after!.subarray(pixel * 4, pixel * 4 + 4));
  return values.reduce((count, value, pixel) => count + (value === 0 && isChanged(pixel) ? 1 : 0), 0);
}

describe("Paint", () => {
  it("[CON-33] gives the same mask for the same strokes, takes 50 back, zooms to 800 % and keeps the brush", async () => {
    const tab = await console.signIn();
    const { page } = tab;
    await openPaint(tab, plainRunId);
    await pressOnStage(page, "1");
    await zoomButton(page).filter({ hasText: "100 %" }).waitFor();

    await numberField(page, "Size").fill("40");
    await numberField(page, "Hardness").fill("70");
    await drawStroke(page, [60, 60], [120, 90], [180, 60], [240, 120]);
    await pressOnStage(page, "]", 2);
    expect(await numberField(page, "Size").inputValue()).toBe("48");
    await drawStroke(page, [380, 80]);
    await pressOnStage(page, "[");
    await pressOnStage(page, "x");
    await drawStroke(page, [150, 40], [150, 140]);
    await pressOnStage(page, "l");
    await drawStroke(page, [60, 240], [200, 220], [180, 330], [90, 340]);
    await pressOnStage(page, "u");
    await drawStroke(page, [300, 220], [420, 320]);
    const saved = await saveMask(page);
    const [mask, fixture] = await Promise.all([readMask(saved), readMask(await readFile(FIXTURE))]);
    expect({ width: mask.width, height: mask.height }).toEqual(SIZE);
    expect(mask.values.equals(fixture.values)).toBe(true);

    await pressOnStage(page, "b");
    const locate = await locatePixels(page);
    for (let dot = 0; dot <= 50; dot++) await page.mouse.click(...locate(10 + dot * 9, 180));
    const full = await readMask(await saveMask(page));
    await pressOnStage(page, "Control+z", 50);
    const undo = page.getByRole("button", { name: "Undo" });
    expect(await undo.isDisabled()).toBe(true);
    const rest = await readMask(await saveMask(page));
    expect(rest.values.equals(full.values)).toBe(false);
    await pressOnStage(page, "Control+Shift+z", 50);
    expect((await readMask(await saveMask(page))).values.equals(full.values)).toBe(true);

    await page.getByRole("button", { name: "Clear" }).click();
    await numberField(page, "Size").fill("1");
    await pressOnStage(page, "+", 3);
    await zoomButton(page).filter({ hasText: "800 %" }).waitFor();
    await drawStroke(page, [239.5, 181.5]);
    await expect.poll(() => boundsOf(page)).toEqual({ x: 239, y: 181, width: 1, height: 1 });

    await numberField(page, "Size").fill("37");
    await page.reload();
    await stageOf(page).waitFor();
    expect(await numberField(page, "Size").inputValue()).toBe("37");
    expect(await numberField(page, "Hardness").inputValue()).toBe("70");
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });

  it("[CON-34] paints by touch, moves and zooms with two fingers, and follows the pressure of a pen", async () => {
    const tab = await console.signIn({ hasTouch: true });
    const { page } = tab;
    await openPaint(tab, plainRunId);
    await pressOnStage(page, "1");
    const devtools = await page.context().newCDPSession(page);
    const touch = async (type: "touchStart" | "touchMove" | "touchEnd", ...points: [x: number, y: number][]) => {
      const locate = await locatePixels(page);
      const touchPoints = points.map((point, id) => {
        const [x, y] = locate(...point);
        return { x, y, id };
      });
      await devtools.send("Input.dispatchTouchEvent", { type, touchPoints });
    };

    await numberField(page, "Size").fill("30");
    await touch("touchStart", [100, 100]);
    await touch("touchMove", [200, 100]);
    await touch("touchEnd");
    await page.getByText(/% of the image/).waitFor();
    const painted = await boundsOf(page);
    expect(painted).toMatchObject({ width: 130, height: 30 });

    // The positions are of the page, so they are computed before the image moves.
    const [left, top] = (await locatePixels(page))(200, 200);
    await pinch(devtools, [left, top], { from: 60, to: 120, down: 40 });
    await zoomButton(page).filter({ hasText: "200 %" }).waitFor();
    const [, movedTop] = (await locatePixels(page))(200, 200);
    expect(Math.round(movedTop - top)).toBe(40);
    expect(await boundsOf(page)).toEqual(painted);

    await pressOnStage(page, "1");
    const penHeight = async (force: number) => {
      await page.getByRole("button", { name: "Clear" }).click();
      const [x, y] = (await locatePixels(page))(240, 200);
      const pen = { x, y, button: "left", clickCount: 1, pointerType: "pen", force } as const;
      await devtools.send("Input.dispatchMouseEvent", { ...pen, type: "mousePressed", buttons: 1 });
      await devtools.send("Input.dispatchMouseEvent", { ...pen, type: "mouseMoved", x: x + 40, buttons: 1 });
      await devtools.send("Input.dispatchMouseEvent", { ...pen, type: "mouseReleased", x: x + 40, force: 0 });
      await page.getByText(/% of the image/).waitFor();
      return (await boundsOf(page)).height;
    };
    await numberField(page, "Size").fill("100");
    expect(await penHeight(0.2)).toBeLessThan(30);
    expect(await penHeight(0.9)).toBeGreaterThan(80);
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });

  it("[CON-35] edits without a pointer, by a rectangle in numbers and by words", async () => {
    const tab = await console.signIn();
    const { page } = tab;
    await openPaint(tab, drawingRunId);
    const type = async (field: Locator, words: string) => {
      await field.focus();
      await page.keyboard.press("Control+a");
      await page.keyboard.type(words);
    };
    for (const [name, value] of Object.entries({ X: "40", Y: "50", W: "200", H: "160" })) {
      await type(numberField(page, name), value);
    }
    await page.keyboard.press("Enter");
    await page.getByText(/% of the image/).waitFor();
    await type(page.getByRole("textbox", { name: "Prompt" }), "a red balloon");
    await page.keyboard.press("Control+Enter");
    const first = await waitForResult(page);

    await page.getByRole("button", { name: "Back to the mask" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Clear" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("empty", { exact: true }).waitFor();
    await pressOnStage(page, "t");
    await page.keyboard.type("the lighthouse");
    await page.keyboard.press("Enter");
    await page.getByText(/% of the image/).waitFor();
    await page.getByRole("textbox", { name: "Prompt" }).focus();
    await page.keyboard.press("Control+Enter");
    const second = await waitForResult(page);
    expect(second).not.toBe(first);

    const runs = await Promise.all([first, second].map((id) => console.client.runs.get(id)));
    expect(runs.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(await countOutside(second, drawingRunId)).toBe(0);
    expect(await page.getByText(/^Outside the mask:/).textContent()).toBe("Outside the mask: 0 pixels changed.");
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });

  it("[CON-36] keeps the mask after a failed upload, sends it again, and links it to the edit", async () => {
    const tab = await console.signIn();
    const { page } = tab;
    await openPaint(tab, plainRunId);
    await drawStroke(page, [100, 100], [300, 200]);
    await page.getByText(/% of the image/).waitFor();
    const mask = await saveMask(page);

    await page.route(UPLOAD, (route) => route.abort());
    await page.getByRole("button", { name: /^Remove content/ }).click();
    await page.getByText("The mask was not sent.").waitFor();
    expect((await saveMask(page)).equals(mask)).toBe(true);
    tab.problems.length = 0;
    await page.unroute(UPLOAD);
    await page.getByRole("button", { name: "Send again" }).click();
    const runId = await waitForResult(page);

    const { given } = await console.client.runs.get(runId);
    const { edges } = await console.client.runs.tree(runId);
    const maskEdges = edges.filter(({ role }) => role === "mask");
    expect(maskEdges).toEqual([{ from: runId, to: given?.mask_image_url, kind: "reference", role: "mask" }]);
    const upload = await console.client.runs.get(String(given?.mask_image_url));
    const stored = Buffer.from(await (await fetch(upload.outputs[0]!.url)).arrayBuffer());
    expect((await readMask(stored)).values.equals((await readMask(mask)).values)).toBe(true);
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

type Pinch = { from: number; to: number; down: number };

/** Two fingers around a point: their distance grows and both move down. */
async function pinch(devtools: CDPSession, [x, y]: [x: number, y: number], { from, to, down }: Pinch): Promise<void> {
  const fingers = (distance: number, moved: number) =>
    [-distance / 2, distance / 2].map((offset, id) => ({ x: x + offset, y: y + moved, id }));
  const send = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: { x: number; y: number; id: number }[]) =>
    devtools.send("Input.dispatchTouchEvent", { type, touchPoints });
  await send("touchStart", fingers(from, 0).slice(0, 1));
  await send("touchStart", fingers(from, 0));
  await send("touchMove", fingers((from + to) / 2, down / 2));
  await send("touchMove", fingers(to, down));
  await send("touchEnd", []);
}
