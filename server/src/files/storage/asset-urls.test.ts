import { createHmac, randomBytes, randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createAssetUrlSigner } from "./asset-urls.ts";

const secret = Buffer.alloc(32, 7);
const urls = createAssetUrlSigner([secret], "https://gesso.example");
const assetId = "0199a0a0-0000-7000-8000-000000000001";
const fileOf = (url: string) => url.slice(url.lastIndexOf("/") + 1);

test("a URL is the same every time and in every process with the secret", () => {
  const url = urls.sign(assetId, "image/png");
  expect(url).toMatch(/^https:\/\/gesso\.example\/files\/0199a0a0-0000-7000-8000-000000000001\/[\w-]{22}\.png$/);
  expect(createAssetUrlSigner([Buffer.from(secret)], "https://gesso.example/").sign(assetId, "image/png")).toBe(url);
  expect(createAssetUrlSigner([Buffer.from(secret)], "https://gesso.example//").sign(assetId, "image/png")).toBe(url);
});

test.each([
  ["image/png", ".png"],
  ["image/jpeg", ".jpg"],
  ["image/webp", ".webp"],
  ["video/mp4", ".mp4"],
])("%s ends with %s and verifies", (mediaType, ending) => {
  const url = urls.sign(assetId, mediaType);
  expect(url.endsWith(ending)).toBe(true);
  expect(urls.verify(assetId, fileOf(url))).toBe(true);
});

test("a URL of another media type, asset or secret does not verify", () => {
  const file = fileOf(urls.sign(assetId, "image/png"));
  expect(urls.verify(assetId, file.replace(".png", ".jpg"))).toBe(false);
  expect(urls.verify(randomUUID(), file)).toBe(false);
  expect(createAssetUrlSigner([randomBytes(32)], "https://gesso.example").verify(assetId, file)).toBe(false);
});

test("no single changed bit verifies, in the signature or in the asset ID", () => {
  const file = Buffer.from(fileOf(urls.sign(assetId, "image/png")));
  for (let bit = 0; bit < file.byteLength * 8; bit++) {
    const changed = Buffer.from(file);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(urls.verify(assetId, changed.toString("latin1"))).toBe(false);
  }
  for (let bit = 0; bit < assetId.length * 8; bit++) {
    const changed = Buffer.from(assetId);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(urls.verify(changed.toString("latin1"), file.toString())).toBe(false);
  }
});

test("random changes of a URL never give a valid one", () => {
  const file = fileOf(urls.sign(assetId, "image/png"));
  const letter = fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.%/?=& ");
  const change = fc.record({
    at: fc.nat(file.length),
    drop: fc.nat(3),
    put: fc.string({ unit: letter, maxLength: 4 }),
  });
  fc.assert(
    fc.property(change, ({ at, drop, put }) => {
      const changed = file.slice(0, at) + put + file.slice(at + drop);
      return urls.verify(assetId, changed) === (changed === file);
    }),
    { numRuns: 10_000 },
  );
});

test("the spare bits of base64 give no second URL", () => {
  const file = fileOf(urls.sign(assetId, "image/png"));
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const verified = [...alphabet].filter((last) => urls.verify(assetId, `${file.slice(0, 21)}${last}.png`));
  expect(verified).toEqual([file[21]]);
});

test("anything else is refused without an exception", () => {
  for (const file of ["", ".", ".png", "png", "x.png", "constructor", "x.__proto__", "é".repeat(22)]) {
    expect(urls.verify(assetId, file)).toBe(false);
  }
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (id, file) => !urls.verify(id, file)),
  );
});

test("an extension that no asset has is refused, even with a signature", () => {
  for (const extension of ["html", "js", "constructor"]) {
    const whole = createHmac("sha256", secret).update(`asset-url\n${assetId}\n${extension}`).digest();
    expect(urls.verify(assetId, `${whole.subarray(0, 16).toString("base64url")}.${extension}`)).toBe(false);
  }
});

test("a file of a type that browsers execute, or of an unknown one, has the extension bin", () => {
  for (const mediaType of ["text/html", "text/javascript", "constructor"]) {
    const url = urls.sign(assetId, mediaType);
    expect(url).toMatch(/\.bin$/);
    expect(urls.verify(assetId, fileOf(url))).toBe(true);
  }
});

test("a secret that is too short throws", () => {
  expect(() => createAssetUrlSigner([new Uint8Array(15)], "https://gesso.example")).toThrow("too short");
  expect(() => createAssetUrlSigner([new Uint8Array(16)], "https://gesso.example")).not.toThrow();
});

test("a URL stays valid while its secret is rotated, and new ones are signed with the first", () => {
  const other = Buffer.alloc(32, 8);
  const during = createAssetUrlSigner([other, secret], "https://gesso.example");
  expect(during.verify(assetId, fileOf(urls.sign(assetId, "image/png")))).toBe(true);
  expect(urls.verify(assetId, fileOf(during.sign(assetId, "image/png")))).toBe(false);
  expect(() => createAssetUrlSigner([secret, Buffer.alloc(15)], "https://gesso.example")).toThrow("too short");
});
