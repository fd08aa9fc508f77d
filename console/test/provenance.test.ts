// Who signed a file and what it was made from, on the Run page, in an installation that signs its outputs.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSigningSettings } from "../../server/test/support/signing-settings.ts";
import { type ConsoleBrowser, startOwnConsoleBrowser } from "./support/console-browser.ts";
import { readDownload } from "./support/downloads.ts";
import { endRun } from "./support/end-run.ts";

let console: ConsoleBrowser;
beforeAll(async () => {
  console = await startOwnConsoleBrowser({ env: await createSigningSettings("Signer of the console") });
});
afterAll(() => console?.stop());

it("says who signed a file and what it was made from, and downloads it with its signature", async () => {
  const { client } = console;
  const parent = await endRun(client, client.images.generate({ prompt: "a harbour", width: 64, height: 64 }));
  const request = client.images.upscale({ run_id: parent.run_id, factor: 2 });
  const run = await endRun(client, request);
  const tab = await console.signIn({ path: `/runs/${run.run_id}?tab=provenance` });
  const panel = tab.page.getByRole("region", { name: "Origin of the file" });
  await panel.getByText("Signed, and unchanged since.").waitFor();
  await panel.getByText("Signer of the console").waitFor();
  await panel.getByText("By a trained model", { exact: false }).first().waitFor();

  const [download] = await Promise.all([
    tab.page.waitForEvent("download"),
    tab.page.getByRole("link", { name: "Download" }).click(),
  ]);
  const bytes = await readDownload(download);
  const report = await client.provenance.verify({ file: new Blob([new Uint8Array(bytes)]) });
  expect([report.result, report.run?.run_id, report.run?.proof]).toEqual(["intact", run.run_id, "bytes"]);

  await panel.getByRole("link", { name: `Run …${parent.run_id.slice(-8)}` }).click();
  await tab.page.waitForURL((address) => address.pathname.endsWith(parent.run_id));
  await panel.getByText("Signed, and unchanged since.").waitFor();
  expect(await panel.getByRole("link").count()).toBe(0);
  expect(tab.problems).toEqual([]);
  await tab.context.close();
});
