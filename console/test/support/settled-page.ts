// Waits until a page shows something and has no open request but its event stream.
import type { Page, Request } from "playwright-core";
import { waitUntil } from "./wait-until.ts";

/** Requests follow from what a page renders, and it renders what responses say: one turn each, and one to be sure. */
const QUIET_TURNS = 3;

const isStream = (request: Request) => request.url().includes("/events");

/** Runs in the page: passes the timers, the next frame and everything that the page still has to do. */
const passTurn = () =>
  new Promise((resolve) => {
    setTimeout(() => requestAnimationFrame(() => requestIdleCallback(resolve)));
  });

/** Returns a function that opens a URL and resolves when the page is complete. */
export function createPageOpener(page: Page) {
  const open = new Set<Request>();
  page.on("request", (request) => {
    if (!isStream(request)) open.add(request);
  });
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
  const findOpenRequests = async () => {
    const found = new Set<string>();
    for (let turn = 0; turn < QUIET_TURNS; turn++) {
      await page.evaluate(passTurn);
      for (const request of open) found.add(request.url());
    }
    return [...found].join(", ");
  };
  return async (url: string) => {
    open.clear();
    const response = await page.goto(url);
    const hasWords = () => (document.getElementById("root")?.innerText.trim() ?? "") !== "";
    await page.waitForFunction(hasWords).catch((thrown) => {
      throw new Error(`${url} shows nothing`, { cause: thrown });
    });
    let waiting = "";
    const isSettled = async () => {
      waiting = await findOpenRequests();
      return waiting === "";
    };
    await waitUntil(isSettled, () => `the requests of ${url}: ${waiting}`);
    return response;
  };
}
