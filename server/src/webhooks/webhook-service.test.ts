import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import type { Fault } from "../faults/faults.ts";
import { FetchEnv } from "../outbound/fetch-settings.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { WebhookEnv } from "./settings.ts";
import { createWebhookService } from "./webhook-service.ts";

const createHttpClient = (env: Record<string, string>, PUBLIC_URL = "https://gesso.example") => {
  const settings = { ...WebhookEnv.parse(env), ...FetchEnv.parse(env), PUBLIC_URL };
  return createWebhookService(settings, () => [new Uint8Array(32)], systemClock).httpClient;
};

const catchFault = (check: () => unknown): Fault => {
  try {
    check();
  } catch (thrown) {
    return thrown as Fault;
  }
  throw new Error("the URL was not refused");
};

/** The reason for which the URL is refused. */
const refusal = (env: Record<string, string>, url: string) =>
  catchFault(() => createHttpClient(env).check(url)).details.reason;

it("sends to a private range only if the range is allowed for webhooks, not if it is allowed for fetching", () => {
  const url = "https://10.1.2.3/hook";
  expect(refusal({}, url)).toBe("address");
  expect(refusal({ FETCH_ALLOW_CIDRS: "10.1.0.0/16", FETCH_ALLOW_ORIGINS: "https://10.1.2.3" }, url)).toBe("address");
  expect(createHttpClient({ WEBHOOK_ALLOW_CIDRS: "10.1.0.0/16" }).check(url).href).toBe(url);
});

it("says everything that is wrong with a URL at once, the host first", () => {
  const { check } = createHttpClient({});
  const thrown = catchFault(() => check("http://127.0.0.1:3000/hook"));
  expect(thrown.details).toEqual({ reason: "address", reasons: ["address", "port", "scheme"] });
});

it("sends to this machine if it is a development environment, but neither to its own port nor to a name of elsewhere", async () => {
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(request.url!);
    response.end("ok");
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const client = createHttpClient({ WEBHOOK_ALLOW_LOOPBACK: "true" }, "http://127.0.0.1:7788");
  const posting = { headers: {}, body: "{}", timeoutSeconds: 5 };
  for (const host of ["127.0.0.1", "localhost", "127.0.0.2"]) {
    const sent = client.post(`http://${host}:${port}/${host}`, posting);
    if (host === "127.0.0.2") await expect(sent).rejects.toThrow();
    else expect(await sent).toMatchObject({ status: 200, text: "ok" });
  }
  expect(received).toEqual(["/127.0.0.1", "/localhost"]);
  for (const [url, reason] of [
    ["http://127.0.0.1:7788/", "host"],
    ["http://localhost:7788/", "host"],
    ["http://10.0.0.1/", "address"],
    ["http://example.localhost:3000/", "host"],
    ["http://example.com/", "scheme"],
  ])
    expect([url, catchFault(() => client.check(url!)).details.reason]).toEqual([url, reason]);
  await client.close();
  receiver.closeAllConnections();
  receiver.close();
});
