// The webhooks page beside a real receiver: exact bytes, attempts that appear while one looks, and secrets shown once.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../../server/test/webhooks/receiver.ts";
import { type ConsoleBrowser, startOwnConsoleBrowser, type Tab } from "./support/console-browser.ts";

const PROMPT = `<img src=x onerror=alert(1)> a fox's "den" \u202e żółw 🦊`;

let browser: ConsoleBrowser;
let receiver: WebhookReceiver;
let tab: Tab;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  browser = await startOwnConsoleBrowser({ env: webhookEnv(receiver) });
  const { client } = browser;
  await client.webhooks.create({ url: `${receiver.url}/hooks`, events: ["run.completed"] });
  await client.images.generate({ prompt: PROMPT, width: 64, height: 64, metadata: { note: PROMPT } }).wait();
  await receiver.got(1);
  tab = await browser.signIn({ path: "/webhooks" });
});
afterAll(async () => {
  await browser?.stop();
  await receiver?.close();
});

const shownBody = () => tab.page.getByRole("region", { name: "Body, exactly as sent" }).locator("pre");
const attempts = () => tab.page.getByRole("list", { name: "Attempts" }).getByRole("listitem");

describe("[CON-26] a delivery", () => {
  it("shows, byte for byte, the body that the receiver got, on the page and at its own URL", async () => {
    const [received] = receiver.received;
    const latest = async () => (await browser.client.webhooks.deliveries.list()).data[0];
    await expect.poll(async () => (await latest())?.status).toBe("delivered");
    await tab.page.getByRole("link", { name: "run.completed" }).click();
    const body = await shownBody().evaluate((element) => element.textContent ?? "");
    expect(Buffer.from(body).equals(received!.bytes)).toBe(true);
    expect(body).toContain("🦊");
    await tab.open(`/deliveries/${(await latest())!.id}`);
    const alone = await shownBody().evaluate((element) => element.textContent ?? "");
    expect(Buffer.from(alone).equals(received!.bytes)).toBe(true);
  });

  it("gets another attempt while one looks when it is sent again, with the same ID and bytes", async () => {
    await expect.poll(() => attempts().count()).toBe(1);
    receiver.respondWith(() => ({ status: 500, body: "the database is down" }));
    await tab.page.getByRole("button", { name: "Send again" }).click();
    await expect.poll(() => attempts().filter({ hasText: "500" }).count()).toBe(1);
    const [first, second] = await receiver.got(2);
    expect(second!.bytes.equals(first!.bytes)).toBe(true);
    expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
    await tab.page.getByRole("tab", { name: "Response" }).click();
    await tab.page.getByText("the database is down").waitFor();
    receiver.respondWith(() => 204);
    await tab.page.getByRole("button", { name: "Send again" }).click();
    await expect.poll(() => attempts().filter({ hasText: "204" }).count()).toBe(2);
    expect(tab.problems).toEqual([]);
  });
});

describe("an endpoint", () => {
  it("gets a test event, and a new secret that is shown once", async () => {
    const { page } = tab;
    await tab.open("/webhooks");
    await page.getByRole("button", { name: "Send test event" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
    await receiver.got(1, ({ event }) => event.type === "webhook.test");
    await page.getByRole("heading", { name: "webhook.test" }).waitFor();

    await page.getByRole("button", { name: /^Actions for/ }).click();
    await page.getByRole("menuitem", { name: "Rotate secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const secret = await page.getByRole("dialog").locator("code").innerText();
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);
    expect(tab.problems).toEqual([]);
  });
});
