// The corpus against the running service: as addresses in image fields, and as what a vendor says its results are. The
// server notes every connection that it tries; only its own parts may be among them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Caller, callerOf } from "../caller.ts";
import { startWorld, type World } from "../world.ts";
import { type Attempts, attemptsIn, noteAttemptsIn } from "./attempts.ts";
import { addressOf, type Case, casesOf, corpus, names, OWN_NAMES } from "./corpus.ts";
import { type FetcherProcess, mustStart, TOKEN } from "./fetcher-process.ts";
import { type Front, PUBLIC, startFront } from "./front.ts";
import { type NameServer, startNameServer } from "./name-server.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-service-"));
let front: Front;
let nameServer: NameServer;
let vendor: { url: string; server: Server };
let world: World;
let caller: Caller;
let attempts: Attempts;

beforeAll(async () => {
  front = await startFront();
  nameServer = await startNameServer(names);
  vendor = await startVendor();
  const authority = join(folder, "authority.pem");
  writeFileSync(authority, front.authority.cert);
  attempts = attemptsIn(join(folder, "attempts"));
  world = await startWorld({
    env: {
      ...noteAttemptsIn(join(folder, "attempts")),
      NODE_EXTRA_CA_CERTS: authority,
      ...fetchSettings(),
      SANDBOX_URL: vendor.url,
      // So many bad results would have the vendor passed over, and then nobody would look at the others.
      BREAKER_FAILURES: "1000000",
    },
  });
  caller = callerOf(world);
}, 120_000);
afterAll(async () => {
  await world?.stop();
  vendor?.server.close().closeAllConnections();
  nameServer?.close();
  await front?.close();
  rmSync(folder, { recursive: true });
}, 60_000);
beforeEach(() => void attempts.taken());

const fetchSettings = () => ({
  FETCH_ALLOW_CIDRS: PUBLIC,
  FETCH_DENY: OWN_NAMES.join(","),
  FETCH_PORTS: [80, 443, 8080, 8443, ...front.ports].join(","),
  FETCH_DNS_SERVERS: nameServer.server,
});

/** A vendor that says of each job what its prompt tells it to: that the result lies at the address of a case. */
async function startVendor(): Promise<typeof vendor> {
  const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
  const jobs = new Map<string, string>();
  const server = createServer(async (request, response) => {
    if (request.url === "/picture.png") return void response.setHeader("content-type", "image/png").end(picture);
    let text = "";
    for await (const chunk of request) text += chunk;
    const id = request.method === "POST" ? String(jobs.size) : request.url!.split("/").at(-1)!;
    if (request.method === "POST") jobs.set(id, JSON.parse(text).prompt);
    const [, index] = /^case (\d+)$/.exec(jobs.get(id) ?? "") ?? [];
    const url = index === undefined ? `${vendor.url}/picture.png` : addressOf(corpus.attack[Number(index)]!, front);
    const outputs = [{ url, media_type: "image/png", width: 64, height: 64 }];
    const job = { id, status: "succeeded", progress: 100, outputs, error: null, created_at: "", finished_at: "" };
    response.setHeader("content-type", "application/json").end(JSON.stringify(job));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** Ports below these are nobody's part: the parts of a world listen at ports that were free. */
const PARTS_FROM = 10_000;
const foreign = () =>
  attempts
    .taken()
    .filter(({ address, port }) => address !== PUBLIC && !(address === "127.0.0.1" && port >= PARTS_FROM));

/** A few at a time, as callers come. */
async function inTurns<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const turn = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 24 }, turn));
}

const count = async (): Promise<number> => Number((await world.query("select count(*) from runs"))[0]!.count);

describe("an image field", () => {
  test("takes no address that is refused by its looks: no run is made, nobody is asked", async () => {
    const before = await count();
    const asked = nameServer.total();
    await inTurns(casesOf("static"), async ({ url }) => {
      const { status, body } = await caller.post("/edits/upscale", { image_url: url });
      expect([url, status, body.code]).toEqual([
        url,
        expect.toSatisfy((given: number) => given === 422 || given === 400),
        expect.stringMatching(/^(url_not_allowed|validation_error)$/),
      ]);
    });
    expect(await count()).toBe(before);
    expect(nameServer.total()).toBe(asked);
    expect(foreign()).toEqual([]);
  });

  test("of every name is looked at, with and without a form", async () => {
    const url = "http://169.254.169.254/latest/meta-data/";
    const fields: [path: string, field: string, rest?: object][] = [
      ["/runs/generate", "reference_image_url", { prompt: "x" }],
      ["/runs/generate", "image_urls", { prompt: "x", model_type: "gemini-2.5" }],
      ["/edits/vendora", "image_url", { prompt: "x" }],
      ["/edits/background-remove", "image_url"],
      ["/edits/remove-bg", "imageUrl"],
      ["/edits/segment", "imageUrl", { prompt: "x" }],
      ["/edits/mask", "original_image_url", { mask_image_url: url }],
      ["/images/describe", "image_url"],
      ["/runs/video", "image_url"],
      ["/edits/reframe", "image_url", { aspect_ratio: "1:1" }],
      ["/edits/extract", "image_url", { prompt: "x" }],
      ["/edits/vary", "image_url"],
      ["/combine/nanobanana", "image_urls", { prompt: "x" }],
    ];
    for (const [path, field, rest = {}] of fields) {
      const value = field.endsWith("s") ? [url, url] : url;
      const { status, body } = await caller.post(path, { ...rest, [field]: value });
      expect([path, field, status, body.code]).toEqual([path, field, 422, "url_not_allowed"]);
    }
    const form = new FormData();
    form.append("image_url", url);
    expect((await caller.post("/edits/upscale", form)).body.code).toBe("url_not_allowed");
    expect(foreign()).toEqual([]);
  });

  test("whose name, redirect or body is an attack makes a run that fails, and nobody inside is asked", async () => {
    const cases = corpus.attack.filter((each) => each.stage !== "static");
    const ends = new Map<string, string>();
    await inTurns(cases, async (each: Case) => {
      const { body } = await caller.post("/edits/upscale", { image_url: addressOf(each, front) });
      const { status, error } = await caller.ended(body.run_id ?? body.id, 40);
      ends.set(each.url, `${status} ${error?.code}`);
    });
    expect(ends.size).toBe(40);
    for (const [url, end] of ends) {
      expect([url, end]).toEqual([url, expect.stringMatching(/^failed source_(fetch_failed|too_large)$/)]);
    }
    expect(foreign()).toEqual([]);
  });
});

describe("a vendor's result", () => {
  test("that lies where it must is ours", async () => {
    const { body } = await caller.generate({ prompt: "a hill", width: 64, height: 64 });
    expect(await caller.ended(body.run_id)).toMatchObject({ status: "completed" });
    expect(foreign()).toEqual([]);
  });

  test("that lies anywhere of the corpus fails the run, and is not fetched", async () => {
    const ends = new Map<string, string>();
    // What is no address at all makes the vendor's answer one that nobody understands: it never comes to a fetch.
    const cases = [...corpus.attack.entries()].filter(([, each]) => URL.canParse(addressOf(each, front)));
    expect(cases).toHaveLength(196);
    await inTurns(cases, async ([index, { url }]) => {
      const { body } = await caller.generate({ prompt: `case ${index}`, width: 64, height: 64 });
      const { status, error } = await caller.ended(body.run_id, 40);
      ends.set(`${index} ${url}`, `${status} ${error?.code}`);
    });
    expect(ends.size).toBe(196);
    expect([...new Set(ends.values())]).toEqual(["failed provider_output_invalid"]);
    expect(foreign()).toEqual([]);
  }, 120_000);
});

describe("with a fetcher of its own", () => {
  let fetcher: FetcherProcess;
  const file = join(folder, "fetcher-attempts");

  beforeAll(async () => {
    fetcher = await mustStart({ ...noteAttemptsIn(file), ...fetchSettings(), FETCH_ALLOW_ORIGINS: vendor.url });
    await world.leave("api");
    const allow = { FETCH_ALLOW_ORIGINS: vendor.url };
    await world.start("api", { ...allow, FETCHER_URL: fetcher.url, FETCHER_TOKEN: TOKEN });
  }, 90_000);
  afterAll(() => fetcher?.stop());

  const port = () => Number(new URL(vendor.url).port);
  const reached = (by: Attempts) => by.taken().filter((attempt) => attempt.port === port()).length;

  test("pictures are fetched by it, and the service itself goes nowhere", async () => {
    const theirs = attemptsIn(file);
    const { body } = await caller.post("/edits/upscale", { image_url: `${front.http}/picture` });
    expect(await caller.ended(body.run_id ?? body.id)).toMatchObject({
      status: "failed",
      error: { details: { reason: "unsupported_image_format" } },
    });
    expect(theirs.taken().map(({ address }) => address)).toEqual([PUBLIC]);
    expect(attempts.taken().filter(({ address }) => address === PUBLIC)).toEqual([]);
    const { body: whole } = await caller.post("/edits/upscale", { image_url: `${vendor.url}/picture.png` });
    expect(await caller.ended(whole.run_id ?? whole.id)).toMatchObject({ status: "completed" });
    expect(reached(theirs)).toBeGreaterThan(0);
  });

  test("a run waits for it while it is away", async () => {
    const listen = new URL(fetcher.url).host;
    await fetcher.stop();
    const { body } = await caller.post("/edits/upscale", { image_url: `${vendor.url}/picture.png` });
    await new Promise((done) => setTimeout(done, 1_000));
    expect((await caller.get(`/runs/${body.run_id ?? body.id}`)).body.status).not.toBe("failed");
    const back = { ...fetchSettings(), FETCH_ALLOW_ORIGINS: vendor.url, FETCHER_LISTEN: listen };
    fetcher = await mustStart(back);
    expect(await caller.ended(body.run_id ?? body.id, 40)).toMatchObject({ status: "completed" });
  });
});
