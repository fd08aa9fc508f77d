// The rotation of GESSO_SECRET in a running Gesso: what the old secret signed or encrypted stays valid until the
// operator removes it.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { bundlePrograms } from "../support/bundled-programs.ts";
import { TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../webhooks/receiver.ts";

const { server: SERVER } = await bundlePrograms();
const [OLD, NEW] = ["the old secret which is long enough", "the new secret which is long enough"];
let receiver: WebhookReceiver;
let environment: TestEnvironment;
let caller: ApiCaller;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  environment = await startTestEnvironment({ env: { ...webhookEnv(receiver), GESSO_SECRET: OLD } });
  caller = createHttpCaller(environment);
});
afterAll(async () => {
  await environment?.stop();
  await receiver?.close();
});

const generate = async (prompt: string, end_user?: string) =>
  (await caller.generate({ prompt, end_user, width: 64, height: 64, sync: true })).body as {
    run_id: string;
    image_url: string;
  };
const restartWith = async (secrets: { GESSO_SECRET: string; GESSO_ACCEPTED_SECRETS?: string }) => {
  await environment.stopGracefully("api");
  await environment.start("api", secrets);
};
const status = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).status;

it("keeps file URLs, tokens, cursors and webhook secrets valid, until the old secret is removed", async () => {
  const { secret } = (await caller.post("/webhooks", { url: `${receiver.url}/hook` })).body;
  const first = await generate("a boat", "visitor-1");
  await generate("a second boat");
  const { next_cursor } = (await caller.get("/runs?limit=1")).body;
  const token = (await caller.post("/tokens", { ...TOKEN_REQUEST, expires_in: 600 })).body.access_token as string;
  const withToken = () =>
    status(`${environment.url}/api/v1/runs/${first.run_id}`, { authorization: `Bearer ${token}` });
  const page = () => caller.get(`/runs?limit=1&cursor=${next_cursor}`);
  expect(next_cursor).toBeTypeOf("string");
  expect(await withToken()).toBe(200);

  await restartWith({ GESSO_SECRET: NEW, GESSO_ACCEPTED_SECRETS: OLD });
  expect(await status(first.image_url)).toBe(200);
  expect(await withToken()).toBe(200);
  expect((await page()).status).toBe(200);
  const second = await generate("a third boat");
  const isOf = (runId: string) => (each: { event: { data: Record<string, unknown> } }) =>
    each.event.data.run_id === runId;
  const [during] = await receiver.got(1, isOf(second.run_id));
  new Webhook(secret).verify(during!.bytes.toString(), during!.headers as Record<string, string>);

  const reseal = await promisify(execFile)(process.execPath, [SERVER, "--role", "reseal"], {
    env: {
      ...process.env,
      DATABASE_URL: environment.databaseUrl,
      GESSO_SECRET: NEW,
      GESSO_ACCEPTED_SECRETS: OLD,
      STORAGE_DIR: environment.storageDir,
    },
  });
  expect(reseal.stdout).toMatch(/^[1-9]\d* stored secrets encrypted with the current GESSO_SECRET, 0 unreadable\n$/);

  await restartWith({ GESSO_SECRET: NEW });
  expect(await status(first.image_url)).toBe(404);
  expect(await withToken()).toBe(401);
  expect((await page()).body.code).toBe("invalid_cursor");
  const third = await generate("a fourth boat");
  expect(await status(third.image_url)).toBe(200);
  const [after] = await receiver.got(1, isOf(third.run_id));
  new Webhook(secret).verify(after!.bytes.toString(), after!.headers as Record<string, string>);
});
