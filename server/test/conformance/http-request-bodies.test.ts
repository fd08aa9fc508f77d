// How requests are read, whatever the operation: JSON and forms, unknown fields, and what an image field may hold.
import sharp from "sharp";
import { beforeAll, describe, expect } from "vitest";
import type { ApiResponse } from "../support/api-caller.ts";
import { drawScene } from "../support/scene.ts";
import { it } from "./http-and-client.ts";
import {
  asDataUrl,
  type ContractOperation,
  fetchContractOperations,
  fieldErrors,
  formOf,
  leftHalfMask,
  type RunRequest,
  readRunRef,
  runOperations,
  runRequests,
  sendRun,
  statusAndCode,
  UNKNOWN_ID,
} from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite({ isOperator: true });
let source: string;
let requests: RunRequest[];
let printed: ContractOperation[];

beforeAll(async () => {
  source = await suite.uploadImage();
  requests = await runRequests(source);
  printed = await fetchContractOperations(suite);
});

const JSON_ONLY = [
  ...["images.generate", "images.backgroundRemove", "images.genRemove", "images.extract", "generateVideo"],
  ...["prompts.enhance", "prompts.create", "runs.estimate"],
];
const plain = { accept: "application/json" };
const send = ({ method, path }: ContractOperation, body: unknown, headers = {}) =>
  suite.caller.send(method, path, { body, headers });
const inputsOf = async (response: ApiResponse) =>
  (await suite.caller.get(`/runs/${readRunRef(response).run_id}`)).body.inputs;
const nanobanana = (fields: Record<string, unknown>) =>
  suite.caller.post("/edits/nanobanana", formOf(suite, { prompt: "x", run_id: source, ...fields }));

/** Operations whose form requires the image as a file. */
const FORM_NEEDS_FILE = ["/edits/segment", "/edits/remove-bg"];

describe("bodies", () => {
  it("[GNL-001] serves JSON and form at one path, and equal requests have equal inputs", async () => {
    const both = requests.filter(({ bodies, path }) => bodies.length === 2 && !FORM_NEEDS_FILE.includes(path));
    expect(both.length + FORM_NEEDS_FILE.length).toBe(
      runOperations.filter(({ http }) => http.bodies?.length === 2).length,
    );
    for (const { name, path, fields } of both) {
      const all = { ...fields, metadata: { note: [1, { deep: true }] } };
      const { mask_image_url: _inJson, ...json } = await inputsOf(await suite.caller.post(path, all, plain));
      const { mask_image_url: _inForm, ...form } = await inputsOf(
        await suite.caller.post(path, formOf(suite, all), plain),
      );
      expect({ name, inputs: form }).toEqual({ name, inputs: json });
      expect(Object.keys(json).length).toBeGreaterThan(1);
    }
    for (const path of FORM_NEEDS_FILE) {
      const fields = { run_id: source, ...(path === "/edits/segment" && { prompt: "the red circle" }) };
      const image = await drawScene();
      const { image: _file, ...form } = await inputsOf(
        await suite.caller.post(path, formOf(suite, { ...fields, image }), plain),
      );
      expect(form).toEqual(await inputsOf(await suite.caller.post(path, fields, plain)));
    }
  });

  it("[GNL-002] returns 415 for forms where only JSON is accepted, and for plain text everywhere", async () => {
    const taking = printed.filter(({ bodies }) => bodies.length > 0);
    const onlyJson = taking.filter(({ bodies }) => !bodies.includes("multipart/form-data"));
    expect(onlyJson.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(JSON_ONLY));
    for (const operation of onlyJson) {
      const response = await send(operation, formOf(suite, { prompt: "x" }));
      expect([operation.operationId, ...statusAndCode(response)]).toEqual([
        ...[operation.operationId, 415, "unsupported_media_type"],
      ]);
    }
    for (const operation of taking) {
      const reply = await send(operation, JSON.stringify(operation.example), { "content-type": "text/plain" });
      expect([operation.operationId, ...statusAndCode(reply)]).toEqual([
        ...[operation.operationId, 415, "unsupported_media_type"],
      ]);
    }
  });

  it("[GNL-003] rejects an unknown field at the top of a JSON body, on every operation that accepts one", async () => {
    const taking = printed.filter(({ bodies }) => bodies.includes("application/json"));
    expect(taking.length).toBeGreaterThan(20);
    for (const operation of taking) {
      const { id: _inPath, ...example } = operation.example;
      const response = await send(operation, { ...example, no_such_field: 1 });
      expect([operation.operationId, ...statusAndCode(response), ...fieldErrors(response)]).toEqual([
        ...[operation.operationId, 400, "validation_error", "/no_such_field unknown_field"],
      ]);
    }
  });

  it("[GNL-004] rejects an unknown field in a form, on every operation that accepts one", async () => {
    const taking = printed.filter(({ bodies }) => bodies.includes("multipart/form-data"));
    expect(taking.length).toBeGreaterThan(12);
    for (const operation of taking) {
      const response = await send(operation, formOf(suite, { ...operation.example, no_such_field: "1" }));
      expect([operation.operationId, ...statusAndCode(response)]).toEqual([
        operation.operationId,
        400,
        "validation_error",
      ]);
      expect(fieldErrors(response)).toContain("/no_such_field unknown_field");
    }
  });

  it("[GNL-005] refuses an unknown field within a nested object", async () => {
    const images = [{ image_reference: source, tag: "hero", weight: 2 }];
    const response = await suite.caller.post("/runs/reference", { prompt: "@hero", images });
    expect([...statusAndCode(response), ...fieldErrors(response)]).toEqual([
      ...[400, "validation_error", "/images/0/weight unknown_field"],
    ]);
  });

  it("[GNL-006] accepts any key inside metadata, at any level, and returns them", async () => {
    const metadata = {
      ...{ no_such_field: 1, prompt: "mine", "": null, "a.b/c~d": [1, "two", { 三: [[]] }], constructor: "x" },
      deep: { deeper: { no_such_field: { toString: false } } },
    };
    const { status, body } = await suite.caller.generate({ prompt: "x", width: 64, height: 64, metadata });
    expect(status).toBe(202);
    expect((await suite.caller.get(`/runs/${body.run_id}`)).body.metadata).toEqual(metadata);
    const upload = await suite.caller.post("/upload", formOf(suite, { file: await drawScene(), metadata }));
    expect(upload.status).toBe(201);
    expect((await suite.caller.get(`/runs/${upload.body.data.run_id}`)).body.metadata).toEqual(metadata);
  });
});

describe("form values", () => {
  it("[GNL-007] reads true and false as booleans, and nothing else", async () => {
    for (const isMask of [true, false]) {
      const { body } = await suite.caller.post(
        "/upload",
        suite.form({ file: await drawScene(), isMask: String(isMask) }),
      );
      expect((await suite.caller.get(`/runs/${body.data.run_id}`)).body.inputs.isMask).toBe(isMask);
    }
    expect((await inputsOf(await nanobanana({ sync: "false" }))).sync).toBe(false);
    const yes = await nanobanana({ sync: "yes" });
    expect([...statusAndCode(yes), ...fieldErrors(yes)]).toEqual([400, "validation_error", "/sync invalid_type"]);
  });

  it("[GNL-008] reads digits as numbers where the schema has a number, and rejects other text", async () => {
    expect((await inputsOf(await nanobanana({ seed: "3" }))).seed).toBe(3);
    const text = await nanobanana({ seed: "abc" });
    expect([...statusAndCode(text), ...fieldErrors(text)]).toEqual([400, "validation_error", "/seed invalid_type"]);
  });

  it("[GNL-009] reads arrays and objects from JSON text, and refuses broken text", async () => {
    const image_urls = [suite.imageUrl("a.png"), suite.imageUrl("b.png")];
    const combine = (fields: Record<string, string>) =>
      suite.caller.post("/combine/nanobanana", suite.form({ prompt: "both", ...fields }));
    const texts = { image_urls: JSON.stringify(image_urls), metadata: '{"album": [7]}' };
    const taken = await combine(texts);
    expect(await inputsOf(taken)).toMatchObject({ image_urls });
    expect((await suite.caller.get(`/runs/${readRunRef(taken).run_id}`)).body.metadata).toEqual({ album: [7] });

    const brokenList = await combine({ ...texts, image_urls: '["http' });
    expect(statusAndCode(brokenList)).toEqual([400, "validation_error"]);
    expect(fieldErrors(brokenList).some((error) => error.startsWith("/image_urls "))).toBe(true);
    const brokenObject = await combine({ ...texts, metadata: '{"album": ' });
    expect([...statusAndCode(brokenObject), ...fieldErrors(brokenObject)]).toEqual([
      ...[400, "validation_error", "/metadata invalid_type"],
    ]);
  });

  it("[GNL-010] accepts a file under the name of any image field as that image", async () => {
    const [sourceImage, mask, other] = [await drawScene(112, 80), await leftHalfMask(112, 80), await drawScene(72, 56)];
    const cases: [path: string, fields: Record<string, unknown>, kinds: string[]][] = [
      [
        "/edits/vendora",
        { prompt: "x", image_url: sourceImage, mask_url: mask, reference_image_url: other },
        ["source 112", "source 72", "mask 112"],
      ],
      ["/edits/gemini-2.5", { prompt: "x", image_url: sourceImage, mask_url: mask }, ["source 112", "mask 112"]],
      [
        "/edits/nanobanana",
        { prompt: "x", image_url: sourceImage, reference_image_url: other },
        ["source 112", "source 72"],
      ],
      ["/edits/reframe", { image_url: sourceImage, aspect_ratio: "1:1" }, ["source 112"]],
      ["/edits/mask", { original_image_url: sourceImage, mask_image_url: mask }, ["source 112", "mask 112"]],
      ["/images/describe", { image_url: other }, ["source 72"]],
      ["/combine", { images: [sourceImage, other] }, ["source 112", "source 72"]],
      ["/combine/nanobanana", { prompt: "x", image_urls: [sourceImage, other] }, ["source 112", "source 72"]],
      [
        "/runs/character",
        { prompt: "x", character_reference_image: other, image: sourceImage, mask },
        ["source 112", "source 72", "mask 112"],
      ],
    ];
    for (const [path, fields, kinds] of cases) {
      const response = await suite.caller.post(path, formOf(suite, { ...fields, sync: true }), plain);
      const { run_id } = readRunRef(response);
      expect([path, (await suite.caller.waitUntilEnded(run_id)).status]).toEqual([path, "completed"]);
      const { layers } = (await suite.caller.get(`/runs/${run_id}/layers`)).body.data;
      const given = layers.filter((layer: any) => layer.kind === "source" || layer.kind === "mask");
      const files = await Promise.all(
        given.map(async (layer: any) => `${layer.kind} ${await widthOf(layer.image_url)}`),
      );
      expect([path, files]).toEqual([path, expect.arrayContaining(kinds)]);
    }
  });
});

const widthOf = async (url: string) =>
  (await sharp(Buffer.from(await (await fetch(url)).arrayBuffer())).metadata()).width;

describe("image fields", () => {
  const describeOf = (image_url: string) => suite.caller.post("/images/describe", { image_url, sync: true });
  const sizeOf = ({ status, body }: ApiResponse) => [status, body.width, body.height];

  it("[GNL-011] read a UUID as a run of one's own, and as nothing where there is none", async () => {
    expect(sizeOf(await describeOf(await suite.uploadImage(await drawScene(100, 60))))).toEqual([200, 100, 60]);
    expect(statusAndCode(await describeOf(UNKNOWN_ID))).toEqual([404, "run_not_found"]);
  });

  it("[GNL-012] read what begins with http:// or https:// as an address that is fetched", async () => {
    expect(sizeOf(await describeOf(suite.imageUrl()))).toEqual([200, 128, 96]);
    expect(sizeOf(await describeOf(suite.imageUrl().replace("http:", "HTTP:")))).toEqual([200, 128, 96]);
    const { body } = await describeOf("https://no-such-host.invalid/image.png");
    expect(body).toMatchObject({ status: "failed", error: { code: "source_fetch_failed" } });
  });

  it.each(["png", "jpeg", "webp"] as const)(
    "[GNL-013] accept data:image/%s;base64, as the image itself",
    async (type) => {
      const bytes = await sharp(await drawScene(90, 70))
        .toFormat(type)
        .toBuffer();
      expect(sizeOf(await describeOf(asDataUrl(bytes, type)))).toEqual([200, 90, 70]);
    },
  );

  it("[GNL-014] accept raw base64 that decodes to an image as the image itself", async () => {
    for (const type of ["png", "jpeg", "webp"] as const) {
      const bytes = await sharp(await drawScene(88, 66))
        .toFormat(type)
        .toBuffer();
      expect(sizeOf(await describeOf(bytes.toString("base64")))).toEqual([200, 88, 66]);
    }
  });

  it.each([
    ["plain words", "an image of mine"],
    ["another scheme", "ftp://example.com/a.png"],
    ["data of another kind", "data:image/gif;base64,R0lGODlhAQABAAAAACw="],
    ["base64 of text", Buffer.from("only words, many of them, and no image at all").toString("base64")],
    ["nothing", ""],
  ])("[GNL-015] refuse %s as ambiguous, at the field's path", async (_, value) => {
    const single = await describeOf(value);
    expect([...statusAndCode(single), ...fieldErrors(single)]).toEqual([
      ...[400, "validation_error", "/image_url ambiguous_reference"],
    ]);
    const within = await suite.caller.post("/combine", { images: [source, value] });
    expect([...statusAndCode(within), ...fieldErrors(within)]).toEqual([
      ...[400, "validation_error", "/images/1 ambiguous_reference"],
    ]);
  });
});

describe("requests of this suite", () => {
  it("are accepted unchanged, so that the requests above are rejected for their one fault", async () => {
    for (const request of requests) {
      const { status } = await sendRun(suite, request);
      expect([request.name, status < 300]).toEqual([request.name, true]);
    }
  });
});
