// `npm run images -- console`: makes the screenshots of the console, docs/pictures/console-*.png, again. Starts Gesso
// with a price list, fills it, and opens the pages in Chromium, light and dark, with twice the pixels of their size.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConsoleLink } from "@gesso/dev/console-link";
import { startGesso } from "@gesso/dev/start";
import { chromium, type Page } from "playwright-core";
import sharp from "sharp";
import { PRICES, type Seeded, seed } from "./console-pictures/seed.ts";

const FOLDER = "docs/pictures";
const THEMES = ["light", "dark"] as const;
const VIEWPORT = { width: 1440, height: 900 };

type Shot = { name: string; path(seeded: Seeded): string; prepare?(page: Page): Promise<void> };

const SHOTS: Shot[] = [
  { name: "make", path: ({ batch }) => `/?from=${batch}` },
  { name: "gallery", path: () => "/gallery" },
  { name: "run", path: ({ masked }) => `/runs/${masked}?tab=tree` },
  { name: "compare", path: ({ root, masked }) => `/compare?items=${root},${masked}` },
  { name: "paint", path: ({ root }) => `/paint/${root}`, prepare: paintMask },
  { name: "usage", path: () => "/usage" },
];

async function takeShots(url: string, link: string, seeded: Seeded): Promise<void> {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const context = await browser.newContext({ viewport: VIEWPORT, deviceScaleFactor: 2 });
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole("navigation").first().waitFor();
    for (const { name, path, prepare } of SHOTS) {
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        await page.goto(`${url}/console${path(seeded)}`);
        await page.getByRole("heading").first().waitFor();
        await waitUntilDrawn(page);
        await prepare?.(page);
        await save(`console-${name}-${theme}`, await page.screenshot());
      }
    }
  } finally {
    await browser.close();
  }
}

/** A mask over the balloon, and what to do with it. */
async function paintMask(page: Page): Promise<void> {
  const { x, y, width, height } = (await page.locator("canvas").last().boundingBox())!;
  const at = (across: number, down: number) => [x + across * width, y + down * height] as const;
  await page.mouse.move(...at(0.245, 0.2));
  await page.mouse.down();
  for (let step = 0; step <= 60; step++) {
    const angle = (step / 60) * 4 * Math.PI;
    const [wide, high] = step < 30 ? [0.05, 0.075] : [0.015, 0.025];
    await page.mouse.move(...at(0.3 - wide * Math.cos(angle), 0.2 - high * Math.sin(angle)));
  }
  for (let step = 0; step <= 10; step++) await page.mouse.move(...at(0.3, 0.2 + step * 0.018));
  await page.mouse.up();
  await page.getByRole("textbox", { name: /^Prompt/ }).fill("make it blue");
  await page.waitForTimeout(600);
}

/** Nothing is loading, and every image on the screen has its pixels and has faded in. */
async function waitUntilDrawn(page: Page): Promise<void> {
  const isDrawn = () =>
    page.evaluate(() => {
      const isOnScreen = (image: HTMLImageElement) => {
        const { top, bottom } = image.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
      };
      const images = [...document.images].filter(isOnScreen);
      return !document.querySelector("[aria-busy=true]") && images.every(({ complete }) => complete);
    });
  for (let quiet = 0; quiet < 3; quiet = (await isDrawn()) ? quiet + 1 : 0) await page.waitForTimeout(400);
}

/** A palette of 256 colours is a quarter of the size, and looks the same at the shown size. */
async function save(name: string, picture: Buffer): Promise<void> {
  const bytes = await sharp(picture).png({ palette: true, quality: 92, effort: 10, dither: 0.6 }).toBuffer();
  writeFileSync(join(FOLDER, `${name}.png`), bytes);
  console.log(`${FOLDER}/${name}.png: ${Math.round(bytes.length / 1000)} kB`);
}

const folder = mkdtempSync(join(tmpdir(), "gesso-console-pictures-"));
process.env.GESSO_CONFIG = join(folder, "gesso.yaml");
writeFileSync(process.env.GESSO_CONFIG, PRICES);
const gesso = await startGesso({ dataDir: folder, ephemeral: true, log: () => {} });
try {
  const seeded = await seed(gesso);
  const link = await createConsoleLink(gesso);
  if (!link) throw new Error("The console is not served.");
  await takeShots(gesso.url, link, seeded);
} finally {
  await gesso.stop();
  rmSync(folder, { recursive: true, force: true });
}
