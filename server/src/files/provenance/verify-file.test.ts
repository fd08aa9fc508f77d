// Every way to tamper with a signed file has its own result, in every format. Keys, certificates and files are real.

import { type CreatedChain, createCertificateChain } from "@gesso/dev/certificate-chain";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { createTestVideo } from "../../../test/fake-vendors/result-files.ts";
import { postBytes } from "../../outbound/trusted-request.ts";
import { describeOrigin } from "./digital-source-type.ts";
import { judgeCodes } from "./judge-codes.ts";
import { readFileParts } from "./mark-file.ts";
import { createProvenanceService, type ProvenanceService } from "./provenance-service.ts";
import { readReport } from "./read-report.ts";
import { ProvenanceEnv } from "./settings.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
const ASSETS = ["01990c3e-2f00-7000-8000-6f0c1a2b3c4e", "01990c3e-2f00-7000-8000-6f0c1a2b3c4f"] as const;

const open: ProvenanceService[] = [];
const createService = (chain: CreatedChain | undefined, { now = Date.now(), trusts = "" } = {}) => {
  const settings = ProvenanceEnv.parse({
    PROVENANCE_PROCESSES: "1",
    ...(chain && { PROVENANCE_CERTIFICATE: chain.certificate, PROVENANCE_KEY: chain.key }),
    ...(trusts && { PROVENANCE_TRUST_ANCHORS: trusts }),
  });
  const service = createProvenanceService(settings, {
    ...{ clock: { now: () => now }, postBytes, megabytes: 512, seconds: 30 },
  });
  open.push(service);
  return service;
};
afterAll(() => {
  for (const each of open) each.close();
});

const expired = await createCertificateChain({ name: "Expired signer", fromDays: -60, toDays: -30 });
const own = createService(await createCertificateChain({ name: "Own signer" }), { trusts: expired.root });
const foreign = createService(await createCertificateChain({ name: "Foreign signer" }));
const past = createService(expired, { now: Date.now() - 45 * DAY_MS });

async function sign(bytes: Uint8Array, media_type: string, asset_id: string, by = own): Promise<Buffer> {
  const origin = describeOrigin("image.generate", []);
  const ids = { run_id: RUN, asset_id };
  const file = {
    ...{ bytes, received: { bytes, media_type } },
    mark: { ...ids, digitalSourceType: origin.digitalSourceType },
  };
  const model = { task: "image.generate", model: "flux-dev", provider: "sandbox", prompt: undefined };
  return Buffer.from((await by.sign(file, { ...ids, media_type, ...model, origin, sources: [] }, [])).bytes);
}

const draw = (seed: number) =>
  sharp({
    create: {
      ...{ width: 96, height: 80, channels: 3, background: { r: seed, g: 90, b: 140 } },
      noise: { type: "gaussian", mean: 128, sigma: 30 },
    },
  });
const FORMATS: Record<string, (seed: number) => Promise<Buffer>> = {
  "image/png": (seed) => draw(seed).png().toBuffer(),
  "image/jpeg": (seed) => draw(seed).jpeg().toBuffer(),
  "image/webp": (seed) => draw(seed).webp().toBuffer(),
  "video/mp4": (seed) => createTestVideo(seed === 1 ? "testsrc" : "smptebars"),
};

/** A byte of the pixels, far from all metadata. */
const contentByte = (bytes: Buffer, type: string) => {
  if (type === "video/mp4") return bytes.indexOf("mdat") + 40;
  if (type === "image/webp") return bytes.indexOf("VP8 ") + 200;
  return bytes.byteLength - 200;
};
const flip = (bytes: Buffer, at: number) => {
  const changed = Buffer.from(bytes);
  changed[at]! ^= 0x01;
  return changed;
};
/** The header of the outermost box and the length of each other one. They are not signed, and what they contain is. */
const isContainer = (manifest: Buffer, position: number) =>
  position < manifest.indexOf("jumb", 8) || manifest.subarray(position, position + 8).includes("jumb");
const manifestIn = (bytes: Buffer, type: string) => {
  const manifest = Buffer.from(readFileParts(bytes, type)!.manifest!);
  return { manifest, at: bytes.indexOf(manifest) };
};

describe.for(Object.keys(FORMATS))("%s", (type) => {
  const first = FORMATS[type]!(1).then((bytes) => sign(bytes, type, ASSETS[0]));
  const resultOf = async (bytes: Uint8Array) => (await own.verify(bytes)).result;

  test("a signed file is intact, with its signer and the run that made it", async () => {
    const report = await own.verify(await first);
    expect(report).toMatchObject({ result: "intact", media_type: type, codes: [] });
    expect(report.signer).toMatchObject({ name: "Own signer", algorithm: "Es256" });
    expect(report.manifests[0]).toMatchObject({ run_id: RUN, asset_id: ASSETS[0], model: "flux-dev" });
    expect(report.mark).toMatchObject({ run_id: RUN, asset_id: ASSETS[0] });
    expect(report.digital_source_type).toMatch(/trainedAlgorithmicMedia$/);
  });

  test("one changed byte of the content", async () => {
    const bytes = await first;
    expect(await resultOf(flip(bytes, contentByte(bytes, type)))).toBe("content_changed");
  });

  test("a changed byte anywhere in the manifest is never intact", async () => {
    const bytes = await first;
    const { manifest, at } = manifestIn(bytes, type);
    // No signature covers the padding at the end of a COSE structure.
    const signed = manifest.lastIndexOf("pad");
    const results = new Set<string>();
    for (let part = 1; part < 40; part++) {
      const position = Math.floor((signed * part) / 40);
      if (isContainer(manifest, position)) continue;
      results.add(await resultOf(flip(bytes, at + position)));
    }
    expect(results).not.toContain("intact");
    expect(results).not.toContain("certificate_expired");
    expect(results).toContain("manifest_changed");
  });

  test("a cut file, wherever it is cut", async () => {
    const bytes = await first;
    for (const share of [0.2, 0.5, 0.8, 0.95])
      expect(await resultOf(bytes.subarray(0, Math.floor(bytes.byteLength * share)))).toBe("file_cut");
    expect(await resultOf(bytes.subarray(0, -2))).toBe("file_cut");
  });

  test("the manifest of another file", async () => {
    const bytes = Buffer.from(await first);
    const other = await sign(await FORMATS[type]!(200), type, ASSETS[1]);
    const { manifest, at } = manifestIn(bytes, type);
    const otherManifest = manifestIn(other, type).manifest;
    expect(otherManifest.byteLength).toBe(manifest.byteLength);
    otherManifest.copy(bytes, at);
    expect(await own.verify(bytes)).toMatchObject({
      ...{ result: "manifest_swapped", mark: { asset_id: ASSETS[0] } },
      manifests: [{ asset_id: ASSETS[1] }],
    });
  });

  test("a foreign key: unchanged, by a signer that is not trusted", async () => {
    const report = await own.verify(await sign(await FORMATS[type]!(1), type, ASSETS[0], foreign));
    expect(report).toMatchObject({ result: "untrusted_signer", signer: { name: "Foreign signer" } });
  });

  test("an expired certificate of a trusted root", async () => {
    const report = await own.verify(await sign(await FORMATS[type]!(1), type, ASSETS[0], past));
    expect(report).toMatchObject({ result: "certificate_expired", signer: { name: "Expired signer" } });
  });

  test("a file without a manifest, and one with a mark only", async () => {
    const bytes = await FORMATS[type]!(1);
    expect(await own.verify(bytes)).toMatchObject({ result: "no_manifest", mark: null, signer: null });
    const mark = { run_id: RUN, asset_id: ASSETS[0], digitalSourceType: "http://example.test/type" };
    const marked = own.mark({ bytes, received: { bytes, media_type: type }, mark, media_type: type });
    expect(await own.verify(marked.bytes)).toMatchObject({ result: "no_manifest", mark: { asset_id: ASSETS[0] } });
  });
});

test("without a certificate of its own an installation trusts no signer", async () => {
  const bytes = await sign(await FORMATS["image/png"]!(1), "image/png", ASSETS[0]);
  expect((await createService(undefined).verify(bytes)).result).toBe("untrusted_signer");
});

test("a file of another format is refused", async () => {
  await expect(own.verify(Buffer.from("GIF89a, or any other text"))).rejects.toMatchObject({
    code: "unsupported_image_format",
  });
});

test("the gravest failure counts", () => {
  expect(judgeCodes([])).toBeUndefined();
  expect(judgeCodes(["signingCredential.untrusted"])).toBe("untrusted_signer");
  expect(judgeCodes(["signingCredential.untrusted", "signingCredential.expired"])).toBe("certificate_expired");
  expect(judgeCodes(["signingCredential.expired", "assertion.dataHash.mismatch"])).toBe("content_changed");
  expect(judgeCodes(["assertion.dataHash.mismatch", "claimSignature.mismatch"])).toBe("manifest_changed");
  expect(judgeCodes(["something.new"])).toBe("manifest_changed");
});

test("a report of any shape is read within limits", () => {
  const manifest = {
    title: "x".repeat(5000),
    assertions: [{ label: "c2pa.actions.v2", data: { actions: [{ action: "c2pa.created" }, 5, { when: "now" }] } }, 7],
    ingredients: Array.from({ length: 1000 }, () => ({ title: "asset nothing" })),
    signature_info: "none",
  };
  const report = readReport(JSON.stringify({ active_manifest: "a", manifests: { b: 5, a: manifest } }));
  expect(report?.manifests.map(({ manifest_id }) => manifest_id)).toEqual(["a"]);
  const [read] = report!.manifests;
  expect([read!.title!.length, read!.ingredients.length, read!.actions.length, read!.signer]).toEqual([
    ...[2000, 200, 1, null],
  ]);
  expect(readReport("{}")).toBeUndefined();
  expect(readReport('{"active_manifest": "x", "manifests": {}}')).toBeUndefined();
});
