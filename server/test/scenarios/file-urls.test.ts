// Signed file URLs over HTTP: what they return, with which headers, and what is refused.
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { type Installation, openSharedInstallation } from "../support/shared-installation.ts";

let environment: Installation;
let caller: ApiCaller;
let image: { run_id: string; url: string };
let other: { run_id: string; url: string };

const solidImage = (background: string) =>
  sharp({ create: { width: 32, height: 24, channels: 3, background } })
    .png()
    .toBuffer();

async function upload(background: string): Promise<{ run_id: string; url: string }> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(await solidImage(background))], { type: "image/png" }), "a.png");
  const { body } = await caller.post("/upload", form);
  return { run_id: body.data.run_id, url: body.data.image_url };
}

beforeAll(async () => {
  environment = await openSharedInstallation();
  caller = createHttpCaller(environment);
  image = await upload("#37a");
  other = await upload("#a73");
});
afterAll(() => environment?.stop());

const SAFE = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
  "referrer-policy": "no-referrer",
};
const headersOf = (response: Response) => Object.fromEntries(response.headers);
const idOf = (url: string) => url.split("/").at(-2)!;
const signatureOf = (url: string) => url.split("/").at(-1)!;

describe("a file", () => {
  it("has its exact type, and headers that allow a browser only to display it", async () => {
    const response = await fetch(image.url);
    expect(response.status).toBe(200);
    expect(headersOf(response)).toMatchObject({
      ...SAFE,
      "content-type": "image/png",
      "content-disposition": `inline; filename="${idOf(image.url)}.png"`,
      "cache-control": "private, max-age=60, must-revalidate",
    });
    expect((await sharp(Buffer.from(await response.arrayBuffer())).metadata()).format).toBe("png");
  });

  it("has the same headers for every method and range", async () => {
    const whole = await fetch(image.url);
    const etag = whole.headers.get("etag")!;
    const asked = {
      200: { method: "HEAD" },
      206: { headers: { range: "bytes=0-9" } },
      304: { headers: { "if-none-match": etag } },
      416: { headers: { range: "bytes=999999-" } },
    };
    for (const [status, init] of Object.entries(asked)) {
      const response = await fetch(image.url, init);
      expect(response.status).toBe(Number(status));
      expect(headersOf(response)).toMatchObject({ ...SAFE, "cache-control": "private, max-age=60, must-revalidate" });
    }
  });

  it("that is not an image is a download", async () => {
    const { body } = await caller.post("/runs/video", { source_run_id: image.run_id, duration: 1, fps: 2 });
    const ended = await caller.waitUntilEnded(body.run_id ?? body.id);
    const response = await fetch(ended.video_url ?? ended.image_url, { method: "HEAD" });
    expect(headersOf(response)).toMatchObject({
      ...SAFE,
      "content-type": "video/mp4",
      "content-disposition": expect.stringMatching(/^attachment; filename="[0-9a-f-]{36}\.mp4"$/),
    });
  });

  it("that is a thumbnail is a small WebP file that browsers cache for a day, and is gone with its run", async () => {
    const { run_id } = await upload("#7a3");
    const { body: run } = await caller.get(`/runs/${run_id}`);
    const { thumbnails, thumbhash } = run.outputs[0];
    for (const url of [thumbnails.small, thumbnails.large]) {
      const response = await fetch(url);
      const cached = { "cache-control": "private, max-age=86400, immutable" };
      expect(headersOf(response)).toMatchObject({ ...SAFE, ...cached, "content-type": "image/webp" });
      expect(await sharp(Buffer.from(await response.arrayBuffer())).metadata()).toMatchObject({
        width: 32,
        height: 24,
      });
    }
    expect(Buffer.from(thumbhash, "base64").byteLength).toBeGreaterThanOrEqual(5);
    await caller.delete(`/runs/${run_id}`);
    expect((await fetch(thumbnails.small)).status).toBe(410);
  });

  it("that is the response itself has the same headers", async () => {
    const { headers, bytes } = await caller.post("/edits/remove-bg", { run_id: image.run_id }, { accept: "image/png" });
    expect(Object.fromEntries(headers)).toMatchObject({ ...SAFE, "content-type": "image/png" });
    expect((await sharp(bytes).metadata()).format).toBe("png");
  });
});

describe("a file URL", () => {
  it("is refused with any change or addition", async () => {
    const [id, signature] = [idOf(image.url), signatureOf(image.url)];
    const bare = signature.replace(".png", "");
    const at = (path: string) => `${environment.url}/files/${path}`;
    const changed = [
      at(`${idOf(other.url)}/${signature}`),
      at(`${id}/${signatureOf(other.url)}`),
      ...["jpg", "webp", "mp4", "PNG", "svg", "html"].map((extension) => at(`${id}/${bare}.${extension}`)),
      ...[bare, `${bare}.`, `${signature}.png`, `.png`, `${signature}/`, `${signature}/x`].map((file) =>
        at(`${id}/${file}`),
      ),
      at(`${id.toUpperCase()}/${signature}`),
      ...["?", "?x", "?response-content-type=text/html", "?expires=9999999999", "?download=1"]
        .slice(1)
        .map((query) => image.url + query),
      ...[...bare].map((letter, index) =>
        at(`${id}/${bare.slice(0, index)}${letter === "A" ? "B" : "A"}${bare.slice(index + 1)}.png`),
      ),
    ];
    for (const url of changed) {
      const response = await fetch(url);
      expect([url, response.status]).toEqual([url, 404]);
      expect(response.headers.get("content-type")).toContain("json");
    }
    expect((await fetch(image.url)).status).toBe(200);
  });

  it("that is refused has the same security headers", async () => {
    const response = await fetch(image.url.replace(".png", ".jpg"));
    expect(headersOf(response)).toMatchObject({ ...SAFE, "cache-control": "no-store" });
  });

  it("accepts no method that changes anything", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expect((await fetch(image.url, { method })).status).toBeGreaterThanOrEqual(404);
    }
    expect((await fetch(image.url)).status).toBe(200);
  });
});

describe("a file that was deleted", () => {
  it("is gone immediately, for every holder of its URL or etag and for revalidating caches", async () => {
    const gone = await upload("#123");
    const etag = (await fetch(gone.url)).headers.get("etag")!;
    expect((await caller.delete(`/runs/${gone.run_id}`)).status).toBeLessThan(300);
    const asked: RequestInit[] = [
      {},
      { method: "HEAD" },
      { headers: { "if-none-match": etag } },
      { headers: { range: "bytes=0-9" } },
    ];
    for (const init of asked) {
      const response = await fetch(gone.url, init);
      expect(response.status).toBe(410);
      expect(headersOf(response)).toMatchObject({ ...SAFE, "cache-control": "no-store" });
    }
  });

  it("is no longer a source, although its URL was signed here", async () => {
    const gone = await upload("#321");
    await caller.delete(`/runs/${gone.run_id}`);
    const { body } = await caller.post("/edits/upscale", { image_url: gone.url });
    const ended = await caller.waitUntilEnded(body.run_id ?? body.id);
    expect(ended).toMatchObject({
      status: "failed",
      error: { code: "source_fetch_failed", details: { reason: "asset_expired" } },
    });
  });

  it("cannot be told from a missing file without its signed URL", async () => {
    const gone = await upload("#231");
    await caller.delete(`/runs/${gone.run_id}`);
    expect((await fetch(gone.url.replace(signatureOf(gone.url), signatureOf(other.url)))).status).toBe(404);
  });
});
