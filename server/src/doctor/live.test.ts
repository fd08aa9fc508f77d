// `gesso doctor --live` with a fake fal that is wrong in nine ways: each is named in one sentence, with what to do. The
// tenth, a callback that never arrives, needs a paid request.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { FakeVendor } from "../../test/fake-vendors/fake-vendor.ts";
import { fakeFal } from "../../test/fake-vendors/fal.ts";
import { publishAtFal } from "../../test/model-schemas/published.ts";
import { fal } from "../providers/fal.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { diagnose } from "./doctor.ts";
import { renderReport } from "./render-report.ts";

const FLUX = "fal-ai/flux/dev";
const text = { type: "string" };
const INPUT = {
  type: "object",
  required: ["prompt"],
  properties: {
    ...{ prompt: text, output_format: text },
    num_images: { type: "integer" },
    image_size: { type: "object", properties: { width: { type: "integer" }, height: { type: "integer" } } },
  },
};

let vendor: FakeVendor;
let gateway: Server;
/** Stands between Gesso and fal. */
let disturb: (request: IncomingMessage, response: ServerResponse, whole: string) => void;
const passOn: typeof disturb = (_, response, whole) => void response.end(whole);

beforeAll(async () => {
  vendor = await fakeFal.start();
  gateway = createServer(async (request, response) => {
    const headers = { authorization: request.headers.authorization ?? "" };
    const from = await fetch(`${vendor.url}${request.url}`, { headers });
    response.statusCode = from.status;
    response.setHeader("content-type", "application/json");
    disturb(request, response, await from.text());
  });
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  gateway.closeAllConnections();
  gateway.close();
  await vendor.close();
});
beforeEach(() => {
  disturb = passOn;
  Object.assign(vendor.switches, { retired: [], prices: {}, published: { [FLUX]: publish(INPUT) } });
});

const publish = (input: object) =>
  publishAtFal(FLUX, { input, output: { type: "object", properties: { image: text } } });

async function report(now = systemClock.now) {
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const offers = fal.offers.filter(({ upstreamModel }) => upstreamModel === FLUX);
  const env = fal.env.parse({ ...fakeFal.env(vendor), FAL_API_URL: url, FAL_SCHEMA_URL: vendor.url });
  const installation = {
    ...{ settings: undefined, isServer: false, missing: [], disabledProviders: [] },
    catalogue: { path: "gesso.yaml", exists: false, problems: [] },
    enabledProviders: [{ provider: { ...fal, offers }, env }],
  };
  const found = await diagnose(installation, { ...systemClock, now }, { isLive: true });
  const [check] = found.providers;
  return { check: check!, ok: found.ok, words: renderReport(found, (_, words) => words).replaceAll(/\s+/g, " ") };
}

const refuse =
  (status: number, detail: string): typeof disturb =>
  (_, response) => {
    response.statusCode = status;
    response.end(JSON.stringify({ detail }));
  };

it("says of each model that works that it is listed, and that its schema fits", async () => {
  const { check, ok, words } = await report();
  expect(ok).toBe(true);
  expect(check.models).toEqual([{ as: FLUX, listed: "yes", schema: "fits", problem: undefined }]);
  expect(words).toContain(`fal:${FLUX} listed fits`);
  expect(words).not.toContain(fakeFal.env(vendor).FAL_KEY);
  expect(vendor.ledger).toEqual([]);
});

it.each<[fault: string, arrange: () => void, says: string, todo: string]>([
  [
    "a model that is gone",
    () => (vendor.switches.retired = [FLUX]),
    `upstream model ${FLUX} not found (used by flux-dev)`,
    "set another upstream model (as) in gesso.yaml",
  ],
  [
    "a field that a schema lost",
    () => {
      const { output_format: _, ...properties } = INPUT.properties;
      vendor.switches.published[FLUX] = publish({ ...INPUT, properties });
    },
    "it no longer has the field output_format, which Gesso sends for image.generate",
    "put this report into an issue",
  ],
  [
    "a field that a schema requires now",
    () => {
      const properties = { ...INPUT.properties, licence: text };
      vendor.switches.published[FLUX] = publish({ ...INPUT, properties, required: ["prompt", "licence"] });
    },
    "it requires the field licence, which Gesso does not send for image.generate",
    "disable these offers in gesso.yaml",
  ],
  [
    "a key without credit",
    () => (disturb = refuse(403, "User is locked. Reason: Exhausted balance.")),
    "HTTP 403: no credit left",
    "add credit at the provider",
  ],
  [
    "a rate limit",
    () => (disturb = refuse(429, "Too many requests")),
    "HTTP 429: it limits the requests of this key",
    "see what else uses the key",
  ],
  [
    "a region that is refused",
    () => (disturb = refuse(403, "Not available in your country")),
    "HTTP 403: it refuses requests from this region",
    "run the workers in a region that fal serves",
  ],
  [
    "another price",
    () => (vendor.switches.prices[FLUX] = { usd: 0.03, unit: "megapixels" }),
    `${FLUX} costs $0.03 per started megapixel today; Gesso expects $0.025`,
    "set the prices of these models in gesso.yaml",
  ],
  [
    "a response that is truncated",
    () => (disturb = (_, response, whole) => void response.end(whole.slice(0, -5))),
    "its response ends in the middle",
    "look at proxies between Gesso and the provider",
  ],
  [
    "a clock that is wrong",
    () => {
      disturb = (_, response, whole) => {
        response.setHeader("date", new Date(systemClock.now() - 600_000).toUTCString());
        response.end(whole);
      };
    },
    "s ahead of that of fal.",
    "set the clock",
  ],
])("%s is named in one sentence, with what to do", async (_, arrange, says, todo) => {
  arrange();
  const { check, words } = await report();
  expect(["fail", "warn"]).toContain(check.status);
  expect(words).toContain(says);
  expect(words).toContain(todo);
  expect(vendor.ledger).toEqual([]);
});

it("says nothing about the models of a provider that does not respond", async () => {
  disturb = refuse(401, "Invalid key");
  const { check } = await report();
  expect(check).toMatchObject({ key: "refused", models: [] });
});

it("a provider that is slow is named in one sentence, with what to do", async () => {
  let now = systemClock.now();
  disturb = (request, response, whole) => {
    if (request.url!.startsWith("/v1/models?")) now += 7000;
    response.end(whole);
  };
  const { check, words } = await report(() => now);
  expect(check.status).toBe("warn");
  expect(words).toContain("A free request took 7.0 s.");
  expect(words).toContain("look at the network, and at the status page of fal");
});
