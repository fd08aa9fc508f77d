// The corpus against the running service: as URLs in image fields, and as result URLs of a provider. The server logs
// every connection that it tries; only its own dependencies may be among them.
//
// All fields share one check, so each invalid URL goes to one field, another one in each run; SSRF_OFFSET repeats a
// run. SSRF_OFFSET=all sends each URL to every field, with `npm run proof -- ssrf`.
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TOOLS } from "../../src/http/mcp/tools/index.ts";
import { buildInputWithId, type IdField, listImageUrlFields } from "../access/id-fields.ts";
import { callByPost } from "../mcp/mcp-clients.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { PUBLIC_TEST_IP } from "./attack-servers.ts";
import { type ConnectionLog, connectionLogEnv, readConnectionLog } from "./connection-log.ts";
import { casesOfStage, corpus, type SsrfCase, urlOfCase } from "./corpus.ts";
import { FETCHER_TEST_TOKEN, type FetcherProcess, startFetcherOrThrow } from "./fetcher-process.ts";
import {
  expectedEndpoint,
  forbiddenServiceConnections,
  listUnexpected,
  runCorpus,
  startTestInternet,
  type TestInternet,
} from "./run-corpus.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-service-"));
let net: TestInternet;
let vendor: { url: string; server: Server };
let environment: TestEnvironment;
let caller: ApiCaller;
let attempts: ConnectionLog;

beforeAll(async () => {
  net = await startTestInternet();
  vendor = await startVendor();
  const authority = join(folder, "authority.pem");
  writeFileSync(authority, net.front.authority.cert);
  attempts = readConnectionLog(join(folder, "attempts"));
  environment = await startTestEnvironment({
    env: {
      ...connectionLogEnv(join(folder, "attempts")),
      NODE_EXTRA_CA_CERTS: authority,
      ...net.settings,
      SANDBOX_URL: vendor.url,
      // So many invalid results would open the circuit breaker, and the remaining cases would not be tested.
      BREAKER_FAILURES: "1000000",
    },
  });
  caller = createHttpCaller(environment);
});
afterAll(async () => {
  await environment?.stop();
  vendor?.server.close().closeAllConnections();
  await net?.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => void attempts.drain());

/** A fake vendor whose result URL is the case that the prompt names. */
async function startVendor(): Promise<typeof vendor> {
  const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
  const jobs = new Map<string, string>();
  const server = createServer(async (request, response) => {
    if (request.url === "/image.png") return void response.setHeader("content-type", "image/png").end(image);
    let text = "";
    for await (const chunk of request) text += chunk;
    const id = request.method === "POST" ? String(jobs.size) : request.url!.split("/").at(-1)!;
    if (request.method === "POST") jobs.set(id, JSON.parse(text).prompt);
    const [, index] = /^case (\d+)$/.exec(jobs.get(id) ?? "") ?? [];
    const url = index === undefined ? `${vendor.url}/image.png` : urlOfCase(corpus.attack[Number(index)]!, net.front);
    const outputs = [{ url, media_type: "image/png", width: 64, height: 64 }];
    const job = { id, status: "succeeded", progress: 100, outputs, error: null, created_at: "", finished_at: "" };
    response.setHeader("content-type", "application/json").end(JSON.stringify(job));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const offset = process.env.SSRF_OFFSET ?? String(randomInt(1000));

/** Returns the cases for each place: a share of them, or all. */
function shareCases<Place>(places: Place[]): [Place, readonly SsrfCase[]][] {
  const cases = casesOfStage("static");
  expect(cases).toHaveLength(167);
  if (offset === "all") return places.map((place) => [place, cases]);
  return places.map((place, at) => [place, cases.filter((_, n) => (n + Number(offset)) % places.length === at)]);
}

const foreign = () => forbiddenServiceConnections(attempts);
const count = async (): Promise<number> => Number((await environment.query("select count(*) from runs"))[0]!.count);

/** Asks for something with this address in the place of an image. */
async function give({ operation, path }: IdField, url: string) {
  const { method, path: route } = operation.http;
  const input = buildInputWithId({ operation, path, kind: "run", isFilter: false }, STANDS_IN);
  const body = JSON.parse(JSON.stringify(input), (_, value) => (value === STANDS_IN ? url : value));
  return caller.send(method, `/api/v1${route.replace(/:(\w+)/g, (_, name) => String(body[name]))}`, { body });
}
const STANDS_IN = "https://example.com/stands-in.png";
const nameOf = ({ path }: IdField) => path.filter((part) => part !== "0").join(".");

describe("an image field", () => {
  test("rejects statically invalid URLs, whatever its name: no run is created, no DNS query is sent", async () => {
    const before = await count();
    const input = net.nameServer.total();
    const fields = [...new Map(listImageUrlFields().map((place) => [nameOf(place), place])).values()];
    expect(fields.map(nameOf).sort()).toEqual([
      ...["character_reference_image", "image", "imageUrl", "image_url", "image_urls", "images"],
      ...["images.image_reference", "mask", "mask_image_url", "mask_url", "original_image_url", "reference_image_url"],
      ...["reference_url", "references"],
    ]);
    for (const [field, cases] of shareCases(fields)) {
      const submit = async (url: string) => {
        const { status, body } = await give(field, url);
        return `${nameOf(field)} ${status} ${body.code}`;
      };
      const ended = await runCorpus(net, submit, cases);
      expect(ended.length).toBeGreaterThan(5);
      const unexpected = listUnexpected(ended, / (422 url_not_allowed|400 validation_error)$/);
      expect({ offset, unexpected }).toEqual({ offset, unexpected: [] });
    }
    expect(await count()).toBe(before);
    expect(net.nameServer.total()).toBe(input);
    expect(foreign()).toEqual([]);
  });

  test("is checked in every operation, with JSON and with a form", async () => {
    const url = "http://169.254.169.254/latest/meta-data/";
    const places = listImageUrlFields();
    expect(places.length).toBeGreaterThan(30);
    for (const place of places) {
      const { status, body } = await give(place, url);
      const reported = [place.operation.name, nameOf(place)];
      expect([...reported, status, body.code]).toEqual([...reported, 422, "url_not_allowed"]);
    }
    const form = new FormData();
    form.append("image_url", url);
    expect((await caller.post("/edits/upscale", form)).body.code).toBe("url_not_allowed");
    expect(foreign()).toEqual([]);
  });

  test("whose name, redirect or body is an attack creates a run that fails, and no internal host is contacted", async () => {
    const cases = corpus.attack.filter((each) => each.stage !== "static");
    const submit = async (image_url: string) => {
      const { body } = await caller.post("/edits/upscale", { image_url });
      const { status, error } = await caller.waitUntilEnded(body.run_id ?? body.id);
      return `${status} ${error?.code}`;
    };
    const ended = await runCorpus(net, submit, cases);
    expect(ended).toHaveLength(40);
    expect(listUnexpected(ended, /^failed source_(fetch_failed|too_large)$/)).toEqual([]);
    expect(foreign()).toEqual([]);
  });
});

describe("a provider's result", () => {
  test("at an allowed URL is stored", async () => {
    const { body } = await caller.generate({ prompt: "a hill", width: 64, height: 64 });
    expect(await caller.waitUntilEnded(body.run_id)).toMatchObject({ status: "completed" });
    expect(foreign()).toEqual([]);
  });

  test("at any URL of the corpus fails the run, and is not fetched", async () => {
    const submit = async (_url: string, _each: object, index: number) => {
      const { body } = await caller.generate({ prompt: `case ${index}`, width: 64, height: 64 });
      const { status, error } = await caller.waitUntilEnded(body.run_id);
      return `${status} ${error?.code}`;
    };
    // A result that is no URL makes the provider's response invalid: nothing is fetched.
    const cases = corpus.attack.filter((each) => URL.canParse(urlOfCase(each, net.front)));
    const ended = await runCorpus(net, submit, cases);
    expect(ended).toHaveLength(196);
    expect(listUnexpected(ended, /^failed provider_output_invalid$/)).toEqual([]);
    expect(foreign()).toEqual([]);
  });
});

describe("an image argument of a tool", () => {
  const OTHERS: Record<string, Record<string, unknown>> = {
    edit_image: { prompt: "x" },
    reframe: { aspect_ratio: "1:1" },
  };
  const places = TOOLS.flatMap(({ name, inputSchema }) => {
    const fields = inputSchema.properties as Record<string, { description: string; items?: { description: string } }>;
    return Object.entries(fields).flatMap(([field, { description, items }]) =>
      (items?.description ?? description).includes("data URI") ? [{ name, field, isList: items !== undefined }] : [],
    );
  });
  const submit = async ({ name, field, isList }: (typeof places)[number], url: string) => {
    const source = field === "image" || isList ? {} : { image: ALLOWED };
    const args = { ...OTHERS[name], ...source, [field]: isList ? [url, url] : url };
    const { body } = await callByPost(environment, name, args);
    return `${name}.${field} ${body.result.isError} ${body.result.content[0].text}`;
  };
  const ALLOWED = "https://example.com/image.png";

  test("[MCP-12] rejects every statically invalid URL, in every tool: no run is created", async () => {
    expect(places.map(({ name, field }) => `${name}.${field}`)).toEqual([
      ...["edit_image.image", "edit_image.mask", "edit_image.reference", "cut_out.image", "erase.image", "erase.mask"],
      ...["reframe.image", "combine_images.images", "make_video.image", "describe_image.image"],
    ]);
    const before = await count();
    for (const [place, cases] of shareCases(places)) {
      const ended = await runCorpus(net, (url) => submit(place, url), cases);
      expect(ended.length).toBeGreaterThan(5);
      const unexpected = listUnexpected(ended, / true .*\((url_not_allowed|validation_error)\)/s);
      expect({ offset, unexpected }).toEqual({ offset, unexpected: [] });
    }
    expect(await count()).toBe(before);
    expect(foreign()).toEqual([]);
  });

  test("[MCP-12] whose name, redirect or body is an attack makes a run that fails, and no internal host is contacted", async () => {
    const cases = corpus.attack.filter((each) => each.stage !== "static");
    const describeImage = async (image: string) => {
      let result = (await callByPost(environment, "describe_image", { image })).body.result;
      while (["queued", "processing"].includes(result.structuredContent.status)) {
        const { run_id } = result.structuredContent;
        result = (await callByPost(environment, "get_run", { run_id })).body.result;
      }
      return `${result.structuredContent.status} ${result.structuredContent.error?.code}`;
    };
    const ended = await runCorpus(net, describeImage, cases);
    expect(ended).toHaveLength(40);
    expect(listUnexpected(ended, /^failed source_(fetch_failed|too_large)$/)).toEqual([]);
    expect(foreign()).toEqual([]);
  });
});

// Behind all that counts connections: a run that is being canceled may still try.
describe("a valid URL", () => {
  test.each(corpus.allow)("is accepted and fetched from its address: %s", async (image_url) => {
    const { status, body } = await caller.post("/edits/upscale", { image_url });
    expect(status).toBe(202);
    const tried: object[] = [];
    const seen = () => {
      tried.push(...attempts.drain());
      return tried;
    };
    await expect.poll(seen).toContainEqual(expectedEndpoint(image_url));
    await caller.post(`/runs/${body.run_id ?? body.id}/cancel`);
    await caller.waitUntilEnded(body.run_id ?? body.id);
  });
});

describe("with a fetcher of its own", () => {
  let fetcher: FetcherProcess;
  const file = join(folder, "fetcher-attempts");

  beforeAll(async () => {
    fetcher = await startFetcherOrThrow({
      ...connectionLogEnv(file),
      ...net.settings,
      FETCH_ALLOW_ORIGINS: vendor.url,
    });
    await environment.stopGracefully("api");
    const allow = { FETCH_ALLOW_ORIGINS: vendor.url };
    await environment.start("api", { ...allow, FETCHER_URL: fetcher.url, FETCHER_TOKEN: FETCHER_TEST_TOKEN });
  });
  afterAll(() => fetcher?.stop());

  const port = () => Number(new URL(vendor.url).port);
  const reached = (by: ConnectionLog) => by.drain().filter((attempt) => attempt.port === port()).length;

  test("images are fetched by it, and the service itself opens no connections", async () => {
    const theirs = readConnectionLog(file);
    const { body } = await caller.post("/edits/upscale", { image_url: `${net.front.http}/image` });
    expect(await caller.waitUntilEnded(body.run_id ?? body.id)).toMatchObject({
      status: "failed",
      error: { details: { reason: "unsupported_image_format" } },
    });
    expect(theirs.drain().map(({ address }) => address)).toEqual([PUBLIC_TEST_IP]);
    expect(attempts.drain().filter(({ address }) => address === PUBLIC_TEST_IP)).toEqual([]);
    const { body: whole } = await caller.post("/edits/upscale", { image_url: `${vendor.url}/image.png` });
    expect(await caller.waitUntilEnded(whole.run_id ?? whole.id)).toMatchObject({ status: "completed" });
    expect(reached(theirs)).toBeGreaterThan(0);
  });

  test("a run waits for it while it is away", async () => {
    const listen = new URL(fetcher.url).host;
    await fetcher.stop();
    const { body } = await caller.post("/edits/upscale", { image_url: `${vendor.url}/image.png` });
    // The server has tried without success, and will again.
    await expect.poll(() => attempts.drain().some(({ port }) => port === Number(new URL(fetcher.url).port))).toBe(true);
    expect((await caller.get(`/runs/${body.run_id ?? body.id}`)).body.status).not.toBe("failed");
    const back = { ...net.settings, FETCH_ALLOW_ORIGINS: vendor.url, FETCHER_LISTEN: listen };
    fetcher = await startFetcherOrThrow(back);
    expect(await caller.waitUntilEnded(body.run_id ?? body.id)).toMatchObject({ status: "completed" });
  });
});
