// Error responses: one body, closed lists of codes, no internals of the server or its providers.
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiResponse } from "../support/api-caller.ts";
import { drawScene } from "../support/scene.ts";
import { postForBytes } from "./response-checks.ts";
import { fieldErrors, formOf, statusAndCode, UNKNOWN_ID } from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const SMALL = { width: 64, height: 64 };
const CODES: Record<number, string[]> = {
  400: [
    ...["ambiguous_credentials", "invalid_json", "validation_error", "unsupported_parameter"],
    ...["idempotency_key_required", "idempotency_key_invalid", "invalid_cursor"],
  ],
  401: [
    ...["authentication_required", "invalid_api_key", "invalid_token", "token_expired"],
    ...["session_required", "sign_in_code_invalid", "sign_in_failed"],
  ],
  402: ["insufficient_credits", "spend_limit_reached", "price_unknown", "confirmation_required"],
  403: [
    ...["insufficient_scope", "permission_denied", "tenant_suspended", "storage_quota_exceeded"],
    ...["cross_site_request", "login_too_old"],
  ],
  404: ["route_not_found", "run_not_found", "model_not_found", "asset_not_found", "prompt_not_found"],
  405: ["method_not_allowed"],
  406: ["not_acceptable"],
  408: ["request_timeout"],
  410: ["run_deleted", "asset_expired", "event_position_lost"],
  409: [
    ...["idempotency_in_progress", "run_not_ready", "source_run_failed", "run_not_cancelable", "run_canceled"],
    ...["run_not_repeatable", "conflict", "key_belongs_in_settings"],
  ],
  413: ["payload_too_large", "too_many_parts"],
  414: ["uri_too_long"],
  415: ["unsupported_media_type", "unsupported_content_encoding", "unsupported_image_format"],
  431: ["headers_too_large"],
  422: [
    ...["idempotency_key_reused", "image_undecodable", "image_too_many_pixels", "image_too_small", "mask_mismatch"],
    ...["image_animated_not_supported", "url_not_allowed", "webhook_url_not_allowed", "source_fetch_failed"],
    ...["source_too_large", "content_refused", "provider_rejected_input", "tree_too_deep", "output_not_found"],
    ...["source_not_image", "frame_unavailable", "unusable_provider_key"],
  ],
  429: ["rate_limited", "concurrency_limit_reached", "quota_exceeded"],
  500: ["internal_error", "storage_failed"],
  501: ["not_implemented"],
  502: ["asset_unavailable", "provider_error", "provider_output_invalid", "provider_outcome_unknown"],
  503: ["model_unavailable", "service_overloaded", "dependency_unavailable", "maintenance"],
  504: ["sync_timeout", "provider_timeout", "run_timeout"],
};
const SUB_CODES = [
  ...["required", "unknown_field", "invalid_type", "out_of_range", "unknown_value", "too_long", "too_many_items"],
  ...["too_few_items", "invalid_unicode", "invalid_uuid", "exactly_one_of", "at_least_one_of", "lora_pair_required"],
  ...["aspect_ratio_required", "model_id_required", "ambiguous_reference", "weak_secret"],
];
const RUN_CODES = [
  ...["provider_error", "provider_rejected_input", "provider_timeout", "provider_output_invalid"],
  ...["provider_outcome_unknown", "storage_failed", "run_timeout", "canceled_by_user", "source_fetch_failed"],
  ...["source_too_large", "content_refused", "model_not_found"],
];

const generate = (fields: object, headers?: Record<string, string>) =>
  suite.caller.generate({ prompt: "[sandbox:delay=0] x", ...SMALL, ...fields }, headers);
const raw = (body: string, headers: Record<string, string> = {}) =>
  suite.caller.send("POST", "/api/v1/runs/generate", { body, headers });
const upload = (file: Buffer, more: object = {}) => suite.caller.post("/upload", formOf(suite, { file, ...more }));

/** Sends bytes that are not valid HTTP and returns the response. */
const shout = (text: string) =>
  new Promise<ApiResponse>((resolve, reject) => {
    const { hostname, port } = new URL(suite.environment.url);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      const [head = "", body = ""] = Buffer.concat(chunks).toString().split("\r\n\r\n");
      const [first = "", ...lines] = head.split("\r\n");
      const headers = new Headers(lines.map((line) => line.split(": ") as [string, string]));
      resolve({ status: Number(first.split(" ")[1]), headers, body: JSON.parse(body), bytes: Buffer.from(body) });
    });
  });

let errors: ApiResponse[];
let catalogue: [code: string, status: number][];
let openRun: string;

beforeAll(async () => {
  const key = { "idempotency-key": "err-one" };
  await generate({}, key);
  openRun = (await generate({ prompt: "[sandbox:never] x" })).body.run_id;
  const { body: failed } = await generate({ prompt: "[sandbox:fail,delay=0] x", sync: true });
  const { body: gone } = await generate({ sync: true });
  await suite.caller.delete(`/runs/${gone.run_id}`);
  const flux = (run: string) =>
    suite.caller.post("/edits/flux-kontext", { original_run_id: run, prompt: "x", model: "flux-kontext-max" });
  const sourceImage = await drawScene();
  const segment = { imageUrl: suite.imageUrl(), prompt: "[sandbox:fail,delay=0] x" };
  errors = [
    await generate({ width: 1 }),
    await generate({ guidance: 7, model_type: "nanobanana" }, { prefer: "handling=strict" }),
    await raw("{"),
    await generate({}, { "idempotency-key": "" }),
    await suite.caller.get("/runs?cursor=x"),
    await generate({}, { authorization: "Bearer nobody" }),
    await generate({}, { "x-api-key": "gsk_other" }),
    await suite.caller.send("GET", "/api/v1/runs", { headers: { authorization: "" } }),
    await suite.caller.get("/nowhere"),
    await suite.caller.get(`/runs/${UNKNOWN_ID}`),
    await suite.caller.get(`/prompts/${UNKNOWN_ID}`),
    await suite.caller.send("GET", `/files/${UNKNOWN_ID}/x.png`),
    await suite.caller.send("PUT", "/api/v1/runs/generate"),
    await suite.caller.get(`/runs/${gone.run_id}`),
    await suite.caller.send("GET", new URL(gone.image_url).pathname),
    await flux(openRun),
    await flux(failed.run_id),
    await suite.caller.post(`/runs/${failed.run_id}/cancel`),
    await suite.caller.delete(`/runs/${openRun}`),
    await generate({ scheduler: "x".repeat(1_100_000) }),
    await suite.caller.post(
      "/upload",
      formOf(suite, Object.fromEntries([...Array(90).keys()].map((n) => [`f${n}`, "x"]))),
    ),
    await raw("{}", { "content-type": "text/plain" }),
    await raw("{}", { "content-encoding": "gzip" }),
    await upload(Buffer.from("words")),
    await generate({ prompt: "other" }, key),
    await upload(sourceImage.subarray(0, sourceImage.length / 2)),
    await upload(await drawScene(15, 16)),
    await generate({ reference_image_url: "http://10.0.0.1/a.png" }),
    await generate({ model_type: "vendorc" }),
    await suite.caller.post("/edits/segment", segment),
    await suite.caller.post("/edits/segment", { ...segment, prompt: "[sandbox:refuse,delay=0] x" }),
    await suite.caller.post("/edits/segment", { ...segment, prompt: "[sandbox:garbage,delay=0] x" }),
    await suite.caller.post("/edits/segment", { ...segment, prompt: "[sandbox:delay=3] x" }, { prefer: "wait=1" }),
    await shout("nonsense\r\n\r\n"),
    await shout(`GET /api/v1/runs HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(40_000)}\r\n\r\n`),
  ];
  const { body } = await suite.caller.send("GET", "/openapi.json");
  catalogue = Object.entries(body["x-errors"] as Record<string, { status: number }>).map(([code, row]) => [
    ...([code, row.status] as const),
  ]);
});
afterAll(async () => void (await suite.caller.post(`/runs/${openRun}/cancel`)));

describe("every error", () => {
  it("[ERR-001] is JSON with a message, a code and details", () => {
    expect(new Set(errors.map(({ status, body }) => `${status} ${body.code}`)).size).toBeGreaterThan(30);
    for (const { status, headers, body } of errors) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(headers.get("content-type")).toMatch(/^application\/json/);
      expect(body).toMatchObject({ message: expect.stringMatching(/\S/), code: expect.stringMatching(/^[a-z_]+$/) });
      expect(Object.prototype.toString.call(body.details)).toBe("[object Object]");
    }
  });

  it("[ERR-002] names the request as the header does", () => {
    for (const { headers, body } of errors) {
      expect(body.details.request_id).toMatch(/\S/);
      expect(body.details.request_id).toBe(headers.get("x-request-id"));
    }
  });

  it("[ERR-003] says whether to retry, and when", () => {
    for (const { headers, body } of errors) {
      expect(body.details.retryable).toBeTypeOf("boolean");
      if (body.details.retryable)
        expect([body.code, headers.get("retry-after")]).toEqual([body.code, expect.stringMatching(/^\d+$/)]);
    }
    expect(errors.filter(({ body }) => body.details.retryable).length).toBeGreaterThan(3);
  });

  const isListed = (...statuses: number[]) => {
    const reported = errors.filter(({ status }) => statuses.includes(status));
    expect(reported.length).toBeGreaterThan(1);
    for (const { status, body } of reported) expect(CODES[status]).toContain(body.code);
    // The codes in the contract. canceled_by_user only occurs in runs.
    const printed = catalogue.filter(([code, status]) => statuses.includes(status) && code !== "canceled_by_user");
    expect(printed.length).toBeGreaterThan(1);
    for (const [code, status] of printed) expect(CODES[status]).toContain(code);
    expect(catalogue.map(([, status]) => status).filter((status) => !(status in CODES))).toEqual([]);
  };

  it("[ERR-007] of status 400 has a code of its list", () => isListed(400));
  it("[ERR-008] of status 401, 402 and 403 has a code of their lists", () => isListed(401, 402, 403));
  it("[ERR-009] of status 404 to 408 and 410 has a code of their lists", () => isListed(404, 405, 406, 408, 410));
  it("[ERR-010] of status 409, 413 to 415 and 431 has a code of their lists", () => isListed(409, 413, 414, 415, 431));
  it("[ERR-011] of status 422 has a code of its list", () => isListed(422));
  it("[ERR-012] of status 429 and 5xx has a code of their lists", () => isListed(429, 500, 501, 502, 503, 504));

  it("[ERR-017] is a problem document with Accept: application/problem+json, with the same fields", async () => {
    const input = { accept: "application/problem+json" };
    for (const response of [
      await generate({ width: 1 }, input),
      await suite.caller.get(`/runs/${UNKNOWN_ID}`, input),
    ]) {
      expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
      const { message, code, details } = response.body;
      expect(response.body).toMatchObject({
        ...{ type: expect.stringContaining(code), title: expect.stringMatching(/\S/), status: response.status },
        ...{ detail: message, instance: expect.stringContaining(details.request_id) },
      });
    }
  });
});

describe("a validation error", () => {
  it("[ERR-004] is returned together with all others, each with its path, code and message", async () => {
    const model_type = "two\nlines";
    const response = await generate({ prompt: 7, width: 1, height: "tall", "a/b~c": 1, model_type, seed: -1 });
    expect(statusAndCode(response)).toEqual([400, "validation_error"]);
    expect(fieldErrors(response).sort()).toEqual([
      ...["/a~1b~0c unknown_field", "/height invalid_type", "/model_type unknown_value", "/prompt invalid_type"],
      ...["/seed out_of_range", "/width out_of_range"],
    ]);
    for (const { message } of response.body.details.errors) expect(message).toMatch(/\S/);
    const nested = await suite.caller.post("/runs/reference", { prompt: "x", images: [{ tag: "hero" }, { tag: "x" }] });
    expect(fieldErrors(nested)).toEqual(expect.arrayContaining(["/images/0/image_reference required"]));
    // Which names mean a model depends on the installation, so it is judged when the request itself is valid.
    const unknown = await generate({ prompt: "x", model_type: "sdxl" });
    expect([...statusAndCode(unknown), ...fieldErrors(unknown)]).toEqual([
      ...[400, "validation_error"],
      "/model_type unknown_value",
    ]);
  });

  it("[ERR-005] has one of the listed codes", async () => {
    const video = { image_url: suite.imageUrl(), source_run_id: UNKNOWN_ID };
    const wan = { model_type: "wan-image-2.2", lora_low_name: "../etc", width: 0, batch_size: 9 };
    const many = Array.from({ length: 11 }, () => suite.imageUrl());
    const responses = [
      await generate(wan),
      await generate({ model_type: "vendorb-imagen4", webhook_secret: "short", webhook_url: "nowhere" }),
      await generate({ model_type: "wan-image-2.1", batch_size: 3, aspect_ratio: "wide", model_id: "mine" }),
      await generate({ model_type: "gemini-2.5", image_urls: many, run_ids: ["x"], mask_url: "data:," }),
      await generate({ prompt: "a\0b" }),
      await generate({ prompt: "x".repeat(8001), steps: 1.5, metadata: [], seed: null, no_such_field: 1 }),
      await suite.caller.post("/runs/video", video),
      await suite.caller.post("/images/describe", { image_url: "words", detail: "all" }),
      await suite.caller.post("/images/describe", {}),
      await suite.caller.post("/combine", { images: [suite.imageUrl()], background: "red" }),
      await suite.caller.post("/runs/reference", { prompt: "x", images: [{ image_reference: "x", tag: "h!" }] }),
      await suite.caller.get("/runs?limit=0&created_after=yesterday&status=lost"),
      await suite.caller.post("/runs/estimate", { operation: "images.generate", input: { prompt: "x", ...wan } }),
      await suite.caller.send("POST", "/api/v1/upload", {
        body: "not a form",
        headers: { "content-type": "multipart/form-data; boundary=x" },
      }),
    ];
    const text = new Set<string>();
    for (const response of responses) {
      expect(statusAndCode(response)).toEqual([400, "validation_error"]);
      expect(response.body.details.errors.length).toBeGreaterThan(0);
      for (const { code } of response.body.details.errors) text.add(code);
    }
    for (const word of text) expect(SUB_CODES).toContain(word);
    expect(text.size).toBeGreaterThan(13);
  });

  it("[ERR-006] of the JSON itself is invalid_json", async () => {
    for (const text of ["{", "prompt=x", '{"prompt": "x",}', "", "[1]", '"x"', "null"]) {
      expect([text, ...statusAndCode(await raw(text, { "content-type": "application/json" }))]).toEqual([
        ...[text, 400, "invalid_json"],
      ]);
    }
  });
});

describe("a run that ends badly", () => {
  it("[ERR-013] has one of a few codes, and nothing of the provider's own message", async () => {
    const prompts = ["fail", "refuse", "reject", "garbage", "truncated", "gone"].map(
      (word) => `[sandbox:${word},delay=0] x`,
    );
    const input: [path: string, body: object][] = [
      ...prompts.map((prompt) => ["/runs/generate", { prompt, ...SMALL }] as [string, object]),
      ["/images/describe", { image_url: suite.imageUrl("missing.png") }],
      ["/images/describe", { image_url: "https://no-such-host.invalid/a.png" }],
      ["/edits/segment", { imageUrl: suite.imageUrl(), prompt: "the green triangle", sync: false }],
      ["/edits/mask", { original_image_url: suite.imageUrl(), mask_image_url: await wrongMask(), sync: false }],
    ];
    const runs = await Promise.all(
      input.map(async ([path, body]) =>
        suite.caller.waitUntilEnded((await suite.caller.post(path, body)).headers.get("x-run-id")!),
      ),
    );
    await suite.caller.post(`/runs/${openRun}/cancel`);
    runs.push(await suite.caller.waitUntilEnded(openRun));
    const bad = runs.filter(({ status }) => status !== "completed");
    expect(bad.length).toBeGreaterThanOrEqual(prompts.length + 4);
    for (const { error } of bad) {
      expect(RUN_CODES).toContain(error.code);
      expect(JSON.stringify(error)).not.toMatch(/sandbox|127\.0\.0\.1|ENOTFOUND|Error:|<html/i);
    }
    expect(new Set(bad.map(({ error }) => error.code)).size).toBeGreaterThan(4);
  });

  /** A URL, so that its size is known only after fetching: a small image of this test. */
  const wrongMask = async () => (await upload(await drawScene(48, 48))).body.data.image_url;
});

describe("a URL of the API", () => {
  it("[ERR-014] that does not exist returns route_not_found", async () => {
    for (const path of ["/nowhere", "/runs/x/y/z", "/run", "/"]) {
      expect([path, ...statusAndCode(await suite.caller.get(path))]).toEqual([path, 404, "route_not_found"]);
    }
  });

  it("[ERR-015] that does not support a method lists the supported ones", async () => {
    const cases: [string, string, string][] = [
      ["PUT", "/runs/generate", "POST"],
      ["GET", "/runs/generate", "POST"],
      ["DELETE", "/runs", "GET, POST"],
      ["PUT", "/prompts", "GET, POST"],
      ["POST", `/runs/${UNKNOWN_ID}`, "DELETE, GET, PATCH"],
      ["GET", `/runs/${UNKNOWN_ID}/cancel`, "POST"],
    ];
    for (const [method, path, allowed] of cases) {
      const response = await suite.caller.send(method, `/api/v1${path}`);
      expect([method, path, ...statusAndCode(response)]).toEqual([method, path, 405, "method_not_allowed"]);
      const named = response.headers.get("allow")!.split(", ").sort().join(", ");
      expect([path, named]).toEqual([path, allowed]);
    }
  });

  it("[ERR-016] that returns images returns its errors as JSON", async () => {
    const run = { run_id: UNKNOWN_ID };
    const bodies: [path: string, body: object, status: number][] = [
      ["/edits/segment", { ...run, prompt: "x" }, 404],
      ["/edits/remove-bg", run, 404],
      ["/edits/mask", { original_image_url: UNKNOWN_ID, mask_image_url: UNKNOWN_ID }, 404],
      ["/edits/segment", {}, 400],
      ["/edits/remove-bg", {}, 400],
      ["/edits/mask", {}, 400],
      ["/edits/segment", { imageUrl: suite.imageUrl(), prompt: "[sandbox:fail,delay=0] x" }, 502],
      ["/edits/remove-bg", { imageUrl: suite.imageUrl("missing") }, 422],
    ];
    for (const [path, body, status] of bodies) {
      const response = await postForBytes(suite, path, body);
      expect([path, response.status, response.headers.get("content-type")]).toEqual([
        ...[path, status, expect.stringMatching(/^application\/json/)],
      ]);
      expect(response.body).toMatchObject({ message: expect.any(String), code: expect.any(String), details: {} });
    }
  });
});

describe("an address of an image", () => {
  let inner: Server;
  let connections = 0;
  beforeAll(async () => {
    inner = createServer((_, response) => response.end("x"));
    inner.on("connection", () => connections++);
    await new Promise<void>((resolve) => inner.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => void inner.close());

  it("[ERR-018] in a private network is rejected, and no connection is made", async () => {
    const { port } = inner.address() as AddressInfo;
    const addresses = [
      ...[`http://127.0.0.1:${port}/a.png`, `http://localhost:${port}/a.png`, `http://[::1]:${port}/a.png`],
      ...[`http://2130706433:${port}/a.png`, `http://0x7f.1:${port}/a.png`, `http://[::ffff:127.0.0.1]:${port}/a.png`],
      ...["http://10.1.2.3/a.png", "http://192.168.0.1/a.png", "http://172.16.0.1/", "http://169.254.169.254/latest"],
    ];
    for (const image_url of addresses) {
      const response = await suite.caller.post("/images/describe", { image_url });
      expect([image_url, ...statusAndCode(response)]).toEqual([image_url, 422, "url_not_allowed"]);
    }
    expect(connections).toBe(0);
  });

  it("[ERR-019] whose host has no such image ends in source_fetch_failed, with the reason", async () => {
    const { body } = await suite.caller.post("/images/describe", {
      image_url: suite.imageUrl("missing"),
      sync: true,
    });
    expect(body.error).toMatchObject({ code: "source_fetch_failed", details: { reason: expect.stringMatching(/\S/) } });
  });
});
