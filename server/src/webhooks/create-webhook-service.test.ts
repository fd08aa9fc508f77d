import { expect, it } from "vitest";
import { systemClock } from "../kit/system-clock.ts";
import { FetchEnv } from "../outbound/fetch-settings.ts";
import { createWebhookService } from "./create-webhook-service.ts";
import { WebhookEnv } from "./settings.ts";

/** The reason for which the URL is refused. */
const refusal = (env: Record<string, string>, url: string) => {
  const settings = { ...WebhookEnv.parse(env), ...FetchEnv.parse(env), PUBLIC_URL: "https://gesso.example" };
  try {
    createWebhookService(settings, () => [new Uint8Array(32)], systemClock).httpClient.check(url);
    return undefined;
  } catch (thrown) {
    return (thrown as { details: { reason: string } }).details.reason;
  }
};

it("sends to a private range only if the range is allowed for webhooks, not if it is allowed for fetching", () => {
  const url = "https://10.1.2.3/hook";
  expect(refusal({}, url)).toBe("address");
  expect(refusal({ FETCH_ALLOW_CIDRS: "10.1.0.0/16", FETCH_ALLOW_ORIGINS: "https://10.1.2.3" }, url)).toBe("address");
  expect(refusal({ WEBHOOK_ALLOW_CIDRS: "10.1.0.0/16" }, url)).toBeUndefined();
});
