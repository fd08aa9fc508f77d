// A running Gesso that signs: a chain of operations on a signed upload, validated by another program; every way out of
// Gesso keeps marks and manifests; files are verified by the API and the command line.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificateChain } from "@gesso/dev/certificate-chain";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProvenanceReport, RunProvenance } from "../../src/contract/schemas/provenance.ts";
import { readFileParts, readMark } from "../../src/files/provenance/mark-file.ts";
import { createProvenanceService } from "../../src/files/provenance/provenance-service.ts";
import { ProvenanceEnv } from "../../src/files/provenance/settings.ts";
import { postBytes } from "../../src/outbound/trusted-request.ts";
import { connectClient, finishRun, type ToolResult } from "../mcp/mcp-clients.ts";
import { type ApiCaller, type ApiResponse, createHttpCaller } from "../support/api-caller.ts";
import { validateWithPython } from "../support/c2pa-validator.ts";
import { installPython } from "../support/python.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const ROOT = join(import.meta.dirname, "../../..");
const [own, vendor] = [
  await createCertificateChain({ name: "Gesso of tests" }),
  await createCertificateChain({ name: "A camera" }),
];
const folder = mkdtempSync(join(tmpdir(), "gesso-provenance-"));
const JSON_ONLY = { accept: "application/json" };

let environment: TestEnvironment;
let caller: ApiCaller;
beforeAll(async () => {
  const env = {
    PROVENANCE: "sign",
    ...{ PROVENANCE_CERTIFICATE: own.certificate, PROVENANCE_KEY: own.key, PROVENANCE_TRUST_ANCHORS: vendor.root },
  };
  [environment] = await Promise.all([startTestEnvironment({ env }), installPython()]);
  caller = createHttpCaller(environment);
});
afterAll(async () => {
  await environment?.stop();
  rmSync(folder, { recursive: true });
});

const draw = (background: string, width = 128, height = 96) =>
  sharp({ create: { width, height, channels: 3, background, noise: { type: "gaussian", mean: 128, sigma: 25 } } })
    .png()
    .toBuffer();

/** An image as a camera signs it: no run, and a chain that Gesso does not sign with. */
async function signAsVendor(bytes: Buffer): Promise<Uint8Array> {
  const settings = ProvenanceEnv.parse({ PROVENANCE_CERTIFICATE: vendor.certificate, PROVENANCE_KEY: vendor.key });
  const options = { clock: { now: () => Date.now() }, postBytes, megabytes: 512, seconds: 30 };
  const service = createProvenanceService(settings, options);
  const ids = { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", asset_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4e" };
  try {
    const source = { ...ids, bytes, media_type: "image/png" };
    return await service.signSource(source, { bytes, media_type: "image/png" });
  } finally {
    service.close();
  }
}

const formOf = (bytes: Uint8Array, fields: Record<string, string> = {}) => {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(bytes)]), "file");
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
};
const upload = async (bytes: Uint8Array, fields = {}): Promise<string> => {
  const { status, body } = await caller.post("/upload", formOf(bytes, fields));
  expect([status, body.code]).toEqual([201, undefined]);
  return body.data.run_id;
};
const finish = async (response: ApiResponse): Promise<any> => {
  expect([response.status < 300, response.body?.code]).toEqual([true, undefined]);
  // The response can be the image itself.
  const run = await caller.waitUntilEnded(response.body?.run_id ?? response.headers.get("x-run-id"));
  expect([run.status, run.error]).toEqual(["completed", null]);
  return run;
};
const start = async (path: string, body: object) => finish(await caller.post(path, body, JSON_ONLY));
const download = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
const verify = async (bytes: Uint8Array, by = caller): Promise<ProvenanceReport> =>
  (await by.post("/provenance/verify", formOf(bytes))).body;
const provenanceOf = async (runId: string): Promise<RunProvenance> =>
  (await caller.get(`/runs/${runId}/provenance`)).body;

type Edge = { from: string; to: string; role: string };

/** Pairs of a run and a run whose image or mask it used, as the trees have them. A combination starts a new tree. */
async function listLineage(runIds: string[]): Promise<[string, string][]> {
  const trees = await Promise.all(runIds.map((runId) => caller.get(`/runs/${runId}/tree`)));
  const edges = trees.flatMap(({ body }) => body.edges as Edge[]).filter(({ role }) => role !== "link");
  return [...new Map(edges.map(({ from, to }) => [`${from} ${to}`, [from, to] as [string, string]])).values()];
}

describe("a chain of nine operations on a signed upload", () => {
  const runs: any[] = [];
  let uploadId: string;
  beforeAll(async () => {
    const add = async (path: string, body: object) => {
      const run = await start(path, body);
      runs.push(run);
      return run;
    };
    uploadId = await upload(await signAsVendor(await draw("#3a6")));
    const edited = await add("/edits/nanobanana", { run_id: uploadId, prompt: "make it night" });
    const larger = await add("/edits/upscale", { run_id: edited.run_id, factor: 2 });
    const wider = await add("/edits/reframe", { run_id: larger.run_id, aspect_ratio: "16:9", prompt: "more" });
    const cut = await add("/edits/remove-bg", { run_id: wider.run_id, sync: false });
    const images = [cut.run_id, edited.run_id];
    const webp = await add("/combine", { images, mode: "overlay", output_format: "webp" });
    const { width, height } = webp.outputs[0];
    const mask = await upload(await draw("#fff", width, height), { isMask: "true" });
    const inpainted = await add("/edits/mask", {
      ...{ original_image_url: webp.run_id, mask_image_url: mask, prompt: "a plant", sync: false },
    });
    await add("/combine", { images: [inpainted.run_id, larger.run_id], output_format: "jpeg" });
    const video = await add("/runs/video", { source_run_id: inpainted.run_id, prompt: "waves", duration: 2 });
    await add("/edits/upscale", { run_id: video.run_id, frame: "first", factor: 2 });
  });

  it("is trusted by the C2PA project's own package, and its ingredients are the run tree", async () => {
    expect(runs.map(({ outputs }) => outputs[0].media_type)).toEqual(
      expect.arrayContaining(["image/png", "image/jpeg", "image/webp", "video/mp4"]),
    );
    const outputs = runs.map(({ outputs }) => outputs[0]);
    const files = await Promise.all(
      outputs.map(async ({ url, media_type }) => ({ bytes: await download(url), media_type })),
    );
    const validated = await validateWithPython(files, own.root + vendor.root);
    const lineage = await listLineage(runs.map(({ run_id }) => run_id));
    expect(lineage.length).toBeGreaterThanOrEqual(runs.length + 3);
    for (const [index, { state, failures, signer, signers, ...file }] of validated.entries()) {
      const run = runs[index];
      expect([run.operation, state, failures]).toEqual([run.operation, "Trusted", []]);
      expect([run.operation, signer, signers]).toEqual([
        run.operation,
        "Gesso of tests",
        ["A camera", "Gesso of tests"],
      ]);
      // Everything that the run was derived from, over all generations, and nothing else.
      const ancestors = new Set([run.run_id]);
      for (const _ of runs) for (const [from, to] of lineage) if (ancestors.has(from)) ancestors.add(to);
      const expected = lineage.filter(([from]) => ancestors.has(from)).sort();
      expect([run.operation, file.lineage]).toEqual([run.operation, expected]);
      expect([run.operation, file.source_type]).toEqual([run.operation, expect.stringMatching(/trainedAlgorithmic/i)]);
    }
  });

  it("is reported by runs.provenance with status, signer, actions and the file of the camera", async () => {
    for (const run of runs) {
      const { outputs } = await provenanceOf(run.run_id);
      const [{ provenance, report }] = outputs as [RunProvenance["outputs"][number]];
      expect(provenance).toEqual(run.outputs[0].provenance);
      expect(report).toMatchObject({
        ...{ result: "intact", manifest_hash: provenance!.manifest_hash, signer: { name: "Gesso of tests" } },
        run: { run_id: run.run_id, proof: "bytes" },
      });
      expect(report!.manifests[0]).toMatchObject({ run_id: run.run_id, generator: expect.stringMatching(/^Gesso /) });
      const received = report!.manifests.flatMap(({ ingredients }) => ingredients).filter(({ result }) => result);
      expect(received.every(({ result }) => result === "intact")).toBe(true);
      expect(report!.manifests.map(({ signer }) => signer?.name)).toContain("A camera");
    }
  });
});

type Contract = {
  paths: Record<string, { post?: { operationId: string; requestBody?: { content: RequestContent } } }>;
};
type RequestContent = Record<string, { example?: Record<string, unknown> }>;
const contract: Contract = JSON.parse(readFileSync(join(ROOT, "api/openapi.json"), "utf8"));
/** These answer with text. */
const WITHOUT_FILES = ["images.describe", "images.upload"];

describe("every operation that makes files", () => {
  it("makes files that the C2PA project's own package trusts, with the signed upload as an ingredient", async () => {
    const circle = `<svg width="128" height="96"><circle cx="64" cy="48" r="30" fill="red"/></svg>`;
    const shapes = await sharp({ create: { width: 128, height: 96, channels: 3, background: "#ccd" } })
      .composite([{ input: Buffer.from(circle) }])
      .png()
      .toBuffer();
    const image = await upload(await signAsVendor(shapes));
    const mask = await upload(await draw("#fff"), { isMask: "true" });
    const fill = (value: unknown): unknown => {
      if (typeof value === "string" && /^https:.*mask\.png$/.test(value)) return mask;
      if (typeof value === "string" && /^(https:|01990c3e-)/.test(value)) return image;
      if (Array.isArray(value)) return value.map(fill);
      if (value === null || typeof value !== "object") return value;
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fill(each)]));
    };
    const operations = Object.entries(contract.paths).flatMap(([path, { post }]) =>
      post && /^(images\.|edit\.|generateVideo)/.test(post.operationId) && !WITHOUT_FILES.includes(post.operationId)
        ? [{ path: path.replace("/api/v1", ""), body: post.requestBody!.content["application/json"]!.example! }]
        : [],
    );
    expect(operations.length).toBeGreaterThanOrEqual(20);
    const runs = await Promise.all(operations.map(({ path, body }) => start(path, fill(body) as object)));
    const outputs = runs.flatMap(({ operation, outputs }) => {
      expect([operation, outputs.length > 0]).toEqual([operation, true]);
      return outputs.map((output: any) => ({ ...output, operation }));
    });
    const files = await Promise.all(
      outputs.map(async ({ url, media_type }) => ({ bytes: await download(url), media_type })),
    );
    const validated = await validateWithPython(files, own.root + vendor.root);
    for (const [index, { state, failures, signer, signers }] of validated.entries()) {
      const { operation } = outputs[index];
      expect([operation, state, failures, signer]).toEqual([operation, "Trusted", [], "Gesso of tests"]);
      const hasSource = operation !== "images.generate";
      expect([operation, signers.includes("A camera")]).toEqual([operation, hasSource]);
    }
  });
});

describe("every way out", () => {
  let run: any;
  const statusOf = async (bytes: Uint8Array) => {
    const { result, mark, run: found } = await verify(bytes);
    return { result, mark: mark?.asset_id, run: found?.run_id };
  };
  beforeAll(async () => {
    run = await start("/runs/generate", { prompt: "a harbour [sandbox:delay=0]", width: 128, height: 96 });
  });
  const intact = () => ({ result: "intact", mark: run.outputs[0].asset_id, run: run.run_id });

  it("keeps manifest and mark: the file URL and the command line", async () => {
    expect(await statusOf(await download(run.image_url))).toEqual(intact());
    const path = join(folder, "generated.png");
    const made = JSON.parse((await runCli("generate", "a pier [sandbox:delay=0]", "-o", path, "--json")).stdout);
    expect(await statusOf(readFileSync(path))).toMatchObject({ result: "intact", run: made.run_id });
  });

  it("keeps the mark in thumbnails, also in those that MCP shows", async () => {
    for (const url of Object.values<string>(run.outputs[0].thumbnails)) {
      const bytes = await download(url);
      expect(readMark(readFileParts(bytes, "image/webp"))).toMatchObject({ asset_id: run.outputs[0].asset_id });
      expect(await statusOf(bytes)).toEqual({ ...intact(), result: "no_manifest" });
    }
    const client = await connectClient(environment);
    const called = await client.callTool({ name: "make_image", arguments: { prompt: "a boat [sandbox:delay=0]" } });
    const { content, structuredContent } = await finishRun(client, called as ToolResult);
    await client.close();
    const preview = content.find(({ type }) => type === "image")!;
    const shown = { result: "no_manifest", run: structuredContent.run_id };
    expect(await statusOf(Buffer.from(preview.data!, "base64"))).toMatchObject(shown);
    const link = content.find(({ type }) => type === "resource_link")!;
    expect(await statusOf(await download(link.uri!))).toMatchObject({ ...shown, result: "intact" });
  });

  it("keeps both where the response is the image itself", async () => {
    const { status, headers, bytes } = await caller.post("/edits/remove-bg", { run_id: run.run_id });
    expect([status, headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(await statusOf(bytes)).toMatchObject({ result: "intact", run: headers.get("x-run-id") });
  });

  it("keeps both in the OpenAI API, also in a format that Gesso converts to", async () => {
    for (const output_format of ["png", "jpeg", "webp"]) {
      const body = { prompt: `a ${output_format} [sandbox:delay=0]`, size: "128x96", output_format };
      const response = await caller.send("POST", "/openai/v1/images/generations", { body });
      const bytes = Buffer.from(response.body.data[0].b64_json, "base64");
      expect(await statusOf(bytes)).toMatchObject({ result: "intact", mark: expect.any(String) });
      expect((await verify(bytes)).run?.proof).toBe(output_format === "png" ? "bytes" : "mark");
    }
  });
});

type CliResult = { code: number; stdout: string; stderr: string };
const runCli = (...parameters: string[]): Promise<CliResult> =>
  new Promise((resolve) => {
    const env = { ...process.env, GESSO_URL: environment.url, GESSO_API_KEY: environment.key };
    execFile(process.execPath, [join(ROOT, "cli/src/main.ts"), ...parameters], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

describe("soft binding", () => {
  it("finds a copy without metadata, compressed again, at half the size and cropped", async () => {
    const run = await start("/runs/generate", { prompt: "a lighthouse by the sea", width: 512, height: 384 });
    await start("/runs/generate", { prompt: "a cat in a kitchen", width: 512, height: 384 });
    const crop = { left: 13, top: 10, width: 486, height: 364 };
    const copy = await sharp(await download(run.image_url))
      .extract(crop)
      .resize(243)
      .jpeg({ quality: 60 })
      .toBuffer();
    const { result, mark, run: found, match } = await verify(copy);
    expect([result, mark, found]).toEqual(["no_manifest", null, null]);
    expect(match).toMatchObject({ run_id: run.run_id, asset_id: run.outputs[0].asset_id, bits: 128 });
    expect(match!.distance).toBeLessThanOrEqual(16);
    const other = await createTestTenant(environment);
    expect((await verify(copy, other.caller)).match).toBeNull();
    expect((await verify(await draw("#a51", 300, 200))).match).toBeNull();
    await caller.delete(`/runs/${run.run_id}`);
    expect((await verify(copy)).match).toBeNull();
  });
});

describe("verification", () => {
  it("by the command line ends with 0 for an intact file only, and prints what the API returns", async () => {
    const run = await start("/runs/generate", { prompt: "a light [sandbox:delay=0]", width: 64, height: 64 });
    const bytes = await download(run.image_url);
    const path = join(folder, "verified.png");
    writeFileSync(path, bytes);
    const good = await runCli("verify", path, "--json");
    expect([good.code, JSON.parse(good.stdout)]).toEqual([0, await verify(bytes)]);
    bytes[bytes.length - 30]! ^= 1;
    writeFileSync(path, bytes);
    const bad = await runCli("verify", path, "--json");
    expect([bad.code, JSON.parse(bad.stdout).result]).toEqual([1, "content_changed"]);
    const missing = await runCli("verify", join(folder, "missing.png"));
    expect([missing.code, missing.stdout]).toEqual([2, ""]);
  });

  it("tells another tenant who signed a file, but not which run made it", async () => {
    const run = await start("/runs/generate", { prompt: "a quay [sandbox:delay=0]", width: 64, height: 64 });
    const other = await createTestTenant(environment);
    const report = await verify(await download(run.image_url), other.caller);
    expect(report).toMatchObject({ result: "intact", signer: { name: "Gesso of tests" }, run: null });
    expect((await other.caller.get(`/runs/${run.run_id}/provenance`)).status).toBe(404);
  });

  it("refuses other formats, and stores nothing of a file", async () => {
    const before = await environment.query("select count(*)::int as assets from assets");
    const { status, body } = await caller.post("/provenance/verify", formOf(Buffer.from("GIF89a and more")));
    expect([status, body.code]).toEqual([415, "unsupported_image_format"]);
    expect((await verify(await draw("#222"))).result).toBe("no_manifest");
    expect(await environment.query("select count(*)::int as assets from assets")).toEqual(before);
  });
});
