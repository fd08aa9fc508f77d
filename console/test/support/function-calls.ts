// Counts how many functions the console's scripts call: a measure of work that does not depend on the speed of the
// machine. A component that renders more often than it must shows here, although the page looks the same.
import type { Page } from "playwright-core";

const SCRIPTS = "/console/assets/";

/** Calls of functions of the console while `action` runs. */
export async function countCalls(page: Page, action: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Profiler.enable");
  await session.send("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await action();
  const { result } = await session.send("Profiler.takePreciseCoverage");
  await session.detach();
  return result
    .filter(({ url }) => url.includes(SCRIPTS))
    .flatMap(({ functions }) => functions)
    .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
}
