// What a test reads of the tray and of the event stream that keeps it right.
import type { BrowserContext, Page, Request } from "playwright-core";
import { trayOf } from "./make-steps.ts";

/** The runs of the unfolded tray with their states, in the order of `ids`; a run that stands there twice is "twice". */
export async function listTrayStates(page: Page, ids: readonly string[]): Promise<string[]> {
  const rows = await trayOf(page)
    .getByRole("listitem")
    .evaluateAll((items) =>
      items.map((item) => ({
        id: item.querySelector("a")?.getAttribute("href")?.split("/").at(-1),
        words: item.textContent ?? "",
      })),
    );
  return ids.map((id) => {
    const own = rows.filter((row) => row.id === id);
    if (own.length !== 1) return own.length === 0 ? "absent" : "twice";
    const { words } = own[0]!;
    if (words.includes("%")) return "processing";
    return ["Completed", "Failed", "Canceled", "Queued"].find((state) => words.includes(state))?.toLowerCase() ?? words;
  });
}

export async function unfoldTray(page: Page): Promise<void> {
  await trayOf(page).getByRole("button", { name: "Show all runs in progress" }).click();
  await trayOf(page).getByRole("listitem").first().waitFor();
}

/** Streams that a browser profile holds open, by tab. */
export function watchStreams(context: BrowserContext): Map<Request, Page> {
  const open = new Map<Request, Page>();
  context.on("request", (request) => {
    if (request.url().includes("/console/api/v1/events")) open.set(request, request.frame().page());
  });
  const close = (request: Request) => void open.delete(request);
  context.on("requestfinished", close);
  context.on("requestfailed", close);
  return open;
}
