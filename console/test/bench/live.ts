// How soon the tray is right again after killed processes, a reload and 30 s offline, and how soon another tab takes
// over the event stream.
import type { TestEnvironment } from "../../../server/test/support/test-environment.ts";
import type { ConsoleBrowser } from "../support/console-browser.ts";
import { trayOf } from "../support/make-steps.ts";
import { listTrayStates, unfoldTray, watchStreams } from "../support/tray.ts";
import { waitUntil } from "../support/wait-until.ts";
import { type Figure, millisecondsOf } from "./figures.ts";

const RUNS = 10;
const OFFLINE_MS = 30_000;
const TABS = 8;

type OwnBrowser = ConsoleBrowser<TestEnvironment>;

export async function measureLive(browser: OwnBrowser): Promise<Figure[]> {
  const moved = await measureStream(browser);
  const { client, environment } = browser;
  const { page, context } = await browser.signIn();
  const start = async () => client.images.generate({ prompt: "ten kites [sandbox:delay=8]", width: 64, height: 64 });
  const ids = (await Promise.all(Array.from({ length: RUNS }, start))).map(({ run_id }) => run_id);
  const statesOf = () => Promise.all(ids.map(async (id) => (await client.runs.get(id)).status as string));
  const isRight = async () => {
    const [shown, actual] = await Promise.all([listTrayStates(page, ids), statesOf()]);
    return shown.every((state, index) => state === actual[index]);
  };
  const timeUntilRight = () => millisecondsOf(() => waitUntil(isRight));
  await unfoldTray(page);
  await waitUntil(async () => (await statesOf()).includes("processing"));
  await Promise.all([environment.killAndRestart("api"), environment.killAndRestart("worker")]);
  const killed = await timeUntilRight();
  await page.reload();
  await page.getByRole("navigation").first().waitFor();
  await unfoldTray(page);
  const reloaded = await timeUntilRight();
  await context.setOffline(true);
  await page.waitForTimeout(OFFLINE_MS);
  await waitUntil(async () => (await statesOf()).every((state) => state === "completed"));
  await context.setOffline(false);
  const returned = await timeUntilRight();
  await context.close();
  return [
    { criterion: "CON-19", name: "the tray is right after killed processes", milliseconds: killed, bound: 3000 },
    { criterion: "CON-19", name: "after a reload", milliseconds: reloaded, bound: 3000 },
    { criterion: "CON-19", name: "after 30 s offline", milliseconds: returned, bound: 3000 },
    { criterion: "CON-20", name: "another tab takes over the stream", milliseconds: moved, bound: 3000 },
  ];
}

async function measureStream(browser: OwnBrowser): Promise<number> {
  const { context, page } = await browser.signIn();
  const streams = watchStreams(context);
  await page.reload();
  await waitUntil(async () => streams.size === 1);
  for (let tab = 1; tab < TABS; tab++) await trayOf((await browser.openTab(context, "/runs")).page).waitFor();
  const [leader] = streams.values();
  await leader?.close();
  const milliseconds = await millisecondsOf(() =>
    waitUntil(async () => [...streams.values()].some((other) => other !== leader)),
  );
  await context.close();
  return milliseconds;
}
