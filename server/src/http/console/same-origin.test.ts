import { Hono } from "hono";
import { expect, it } from "vitest";
import type { Fault } from "../../faults/faults.ts";
import { createSameOriginCheck } from "./same-origin.ts";

const check = createSameOriginCheck("https://images.example.com/");
const app = new Hono();
app.all("/write", (context) => {
  check(context);
  return context.text("passed");
});
app.get("/stream", (context) => {
  check(context, { isOwnHeaderRequired: false });
  return context.text("passed");
});
app.onError((thrown, context) => context.text((thrown as Fault).code));

const send = async (path: string, headers: Record<string, string>) => (await app.request(path, { headers })).text();
const OWN = { "x-gesso-console": "1" };

it("passes a request of the own page", async () => {
  expect(await send("/write", { "sec-fetch-site": "same-origin", ...OWN })).toBe("passed");
  // A browser that does not send Sec-Fetch-Site.
  expect(await send("/write", { origin: "https://images.example.com", ...OWN })).toBe("passed");
});

it("refuses a request that another site or a link caused, or without the own header", async () => {
  for (const headers of [
    {},
    OWN,
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-origin", "x-gesso-console": "0" },
    { "sec-fetch-site": "cross-site", ...OWN },
    { "sec-fetch-site": "same-site", ...OWN },
    { "sec-fetch-site": "none", ...OWN },
    { origin: "https://other.example.com", ...OWN },
    { origin: "http://images.example.com", ...OWN },
    { origin: "null", ...OWN },
    // The header of the browser decides, not the origin.
    { "sec-fetch-site": "cross-site", origin: "https://images.example.com", ...OWN },
  ] as Record<string, string>[])
    expect([headers, await send("/write", headers)]).toEqual([headers, "cross_site_request"]);
});

it("passes a stream without the own header, and only of the own page", async () => {
  expect(await send("/stream", { "sec-fetch-site": "same-origin" })).toBe("passed");
  expect(await send("/stream", { "sec-fetch-site": "cross-site" })).toBe("cross_site_request");
  expect(await send("/stream", {})).toBe("cross_site_request");
});
