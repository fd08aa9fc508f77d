// `npm run bench -- console`: how long a person waits for the console, beside the bounds of the acceptance criteria and
// the figures of the last time. It needs a quiet machine and never fails for a figure: the tests count work instead.
// `--runs N` sets the number of runs in the gallery, `--only NAME` takes the figures of one part.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import buildConsole from "../support/build-console.ts";
import { startOwnConsoleBrowser } from "../support/console-browser.ts";
import { measureAccess } from "./access.ts";
import { type Figure, reportFigures } from "./figures.ts";
import { measureGallery } from "./gallery.ts";
import { measureInteractions } from "./interactions.ts";
import { measureLive } from "./live.ts";
import { measureMake } from "./make.ts";
import { measureTree } from "./tree.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "20000" }, only: { type: "string" } } });

await buildConsole();
const browser = await startOwnConsoleBrowser({
  roles: "split",
  env: { GESSO_CONFIG: fileURLToPath(new URL("../support/catalogue.yaml", import.meta.url)) },
});
const parts: Record<string, () => Promise<Figure[]>> = {
  make: () => measureMake(browser),
  interactions: () => measureInteractions(browser),
  tree: () => measureTree(browser),
  gallery: () => measureGallery(browser, Number(values.runs)),
  access: () => measureAccess(browser),
  // Last, because it kills processes.
  live: () => measureLive(browser),
};
try {
  const figures: Figure[] = [];
  for (const [name, measure] of Object.entries(parts)) {
    if (values.only !== undefined && values.only !== name) continue;
    console.log(`measuring ${name}`);
    figures.push(...(await measure()));
  }
  reportFigures(figures);
} finally {
  await browser.stop();
}
