import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createCertificateChain } from "@gesso/dev/certificate-chain";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestVideo } from "../../../test/fake-vendors/result-files.ts";
import { startSigningService } from "../../../test/support/signing-service.ts";
import { postBytes } from "../../outbound/trusted-request.ts";
import { describeOrigin } from "./digital-source-type.ts";
import { readFileParts } from "./mark-file.ts";
import { createProvenanceService, type ProvenanceService } from "./provenance-service.ts";
import { ProvenanceEnv } from "./settings.ts";
import { sha256 } from "./sha256.ts";

const chain = await createCertificateChain({ name: "Test signer" });
const open: ProvenanceService[] = [];
const folder = mkdtempSync(join(tmpdir(), "gesso-provenance-"));

const createService = (env: Record<string, string>, now = Date.now()) => {
  const settings = ProvenanceEnv.parse({ PROVENANCE_PROCESSES: "1", ...env });
  const options = { clock: { now: () => now }, postBytes, megabytes: 512, seconds: 30 };
  const service = createProvenanceService(settings, options);
  open.push(service);
  return service;
};
const localKey = { PROVENANCE_CERTIFICATE: chain.certificate, PROVENANCE_KEY: chain.key };
let service: ProvenanceService;
beforeAll(() => {
  service = createService(localKey);
});
afterAll(() => {
  for (const each of open) each.close();
  rmSync(folder, { recursive: true });
});

const id = (number: number) => `01990c3e-2f00-7000-8000-6f0c1a2b3c${String(number).padStart(2, "0")}`;
const draw = (hue: string) =>
  sharp({
    create: { width: 96, height: 80, channels: 3, background: hue, noise: { type: "gaussian", mean: 128, sigma: 30 } },
  });

async function signOutput(
  bytes: Uint8Array,
  media_type: string,
  {
    by = service,
    received = bytes,
    parent = undefined as Uint8Array | undefined,
    prompt = undefined as string | undefined,
  } = {},
) {
  const sources = parent ? [{ asset_id: id(1), media_type: "image/png", usage: "image" as const, isResult: true }] : [];
  const task = parent ? "image.edit" : "image.generate";
  const origin = describeOrigin(task, sources);
  const mark = { run_id: id(2), asset_id: id(3), digitalSourceType: origin.digitalSourceType };
  const facts = {
    ...{ run_id: id(2), asset_id: id(3), media_type, task, model: "flux-dev", provider: "sandbox", prompt, origin },
    sources: sources.map(({ asset_id }) => ({
      asset_id,
      run_id: id(1),
      media_type: "image/png",
      relationship: "parentOf" as const,
    })),
  };
  const file = { bytes, received: { bytes: received, media_type }, mark };
  return by.sign(file, facts, parent ? [parent] : []);
}

const readReport = async (bytes: Uint8Array, media_type: string, by = service) =>
  JSON.parse(await by.read(bytes, media_type));

test("signs PNG, JPEG, WebP and MP4: trusted, with the same pixels", async () => {
  const files: [string, Buffer][] = [
    ["image/png", await draw("#368").png().toBuffer()],
    ["image/jpeg", await draw("#368").jpeg().toBuffer()],
    ["image/webp", await draw("#368").webp().toBuffer()],
    ["video/mp4", Buffer.from(await createTestVideo())],
  ];
  for (const [mediaType, bytes] of files) {
    const signed = await signOutput(bytes, mediaType);
    const report = await readReport(signed.bytes, mediaType);
    expect(report.validation_state, mediaType).toBe("Trusted");
    expect(signed.provenance).toMatchObject({
      status: "signed",
      manifest_hash: sha256(readFileParts(signed.bytes, mediaType)!.manifest!),
    });
    const decode = mediaType === "video/mp4" ? decodeFrames : (file: Uint8Array) => sharp(file).raw().toBuffer();
    const [before, after] = await Promise.all([bytes, signed.bytes].map(decode));
    expect(before!.length, mediaType).toBeGreaterThan(0);
    expect(after!.equals(before!), mediaType).toBe(true);
  }
});

/** The pixels of all frames of a video. */
async function decodeFrames(bytes: Uint8Array): Promise<Buffer> {
  const path = join(folder, `${sha256(bytes)}.mp4`);
  writeFileSync(path, bytes);
  const options = ["-loglevel", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"];
  const { stdout } = await promisify(execFile)("ffmpeg", options, { encoding: "buffer", maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

test("a manifest says what made the file, and has the prompt only if it is given", async () => {
  const png = await draw("#840").png().toBuffer();
  const report = await readReport((await signOutput(png, "image/png")).bytes, "image/png");
  const manifest = report.manifests[report.active_manifest];
  const find = (label: string) =>
    manifest.assertions.find((each: { label: string }) => each.label.startsWith(label)).data;
  expect(find("c2pa.actions").actions[0]).toMatchObject({
    action: "c2pa.created",
    digitalSourceType: "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia",
    softwareAgent: { name: "sandbox flux-dev" },
  });
  expect(find("org.gesso.run")).toEqual({
    ...{ run_id: id(2), asset_id: id(3), provider: "sandbox", model: "flux-dev", task: "image.generate", sources: [] },
  });
  expect(manifest.claim_generator_info[0].name).toBe("Gesso");
  const withPrompt = await signOutput(png, "image/png", { prompt: "a harbour" });
  expect(await service.read(withPrompt.bytes, "image/png")).toContain("a harbour");
});

test("sources and the file of the provider are ingredients with their own manifests", async () => {
  const vendor = createService({
    PROVENANCE_CERTIFICATE: (await createCertificateChain({ name: "Vendor" })).certificate,
    PROVENANCE_SIGN_COMMAND: "/bin/false",
  });
  expect(vendor.canSign).toBe(true);
  const parent = (await signOutput(await draw("#286").png().toBuffer(), "image/png")).bytes;
  const received = (await signOutput(await draw("#555").png().toBuffer(), "image/png")).bytes;
  const signed = await signOutput(received, "image/png", { received, parent });
  const report = await readReport(signed.bytes, "image/png");
  expect(report.validation_state).toBe("Trusted");
  const { ingredients } = report.manifests[report.active_manifest];
  expect(ingredients.map((each: Record<string, unknown>) => [each.title, each.relationship])).toEqual([
    [`asset ${id(1)}`, "inputTo"],
    ["file of sandbox", "parentOf"],
  ]);
  for (const each of ingredients) expect(each.active_manifest).toBeTruthy();
  expect(Object.keys(report.manifests).length).toBe(3);
});

test("a received image keeps its manifest as an ingredient, although its metadata is removed", async () => {
  const original = (await signOutput(await draw("#123").png().toBuffer(), "image/png")).bytes;
  const normalized = await sharp(original).png().toBuffer();
  const source = { run_id: id(5), asset_id: id(6), bytes: normalized, media_type: "image/png" };
  const stored = await service.signSource(source, { bytes: original, media_type: "image/png" });
  const report = await readReport(stored, "image/png");
  expect(report.validation_state).toBe("Trusted");
  expect(report.manifests[report.active_manifest].ingredients[0]).toMatchObject({ relationship: "parentOf" });
  expect(Object.keys(report.manifests).length).toBe(2);
});

test("marks leave a file with the manifest of the provider as it is", async () => {
  const bytes = (await signOutput(await draw("#777").png().toBuffer(), "image/png")).bytes;
  const mark = {
    run_id: id(2),
    asset_id: id(3),
    digitalSourceType: describeOrigin("image.generate", []).digitalSourceType,
  };
  const kept = service.mark({ bytes, received: { bytes, media_type: "image/png" }, mark, media_type: "image/png" });
  expect(kept.bytes).toBe(bytes);
  expect(kept.provenance).toMatchObject({ status: "received" });
});

test("no process of provenance has a secret of the server in its environment, and only one has the key", async () => {
  process.env.GESSO_PROBE_SECRET = "probe-secret-value";
  const own = createService(localKey);
  await signOutput(await draw("#abc").png().toBuffer(), "image/png", { by: own });
  const { readFileSync } = await import("node:fs");
  expect(own.pids().length).toBe(2);
  for (const pid of own.pids()) {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    expect(environment).not.toContain("probe-secret-value");
    expect(environment.split("\0").filter((each) => each.startsWith("PATH=")).length).toBe(1);
  }
  delete process.env.GESSO_PROBE_SECRET;
});

test("a process that has read a file of a caller never signs", async () => {
  const own = createService(localKey);
  const png = await draw("#369").png().toBuffer();
  const { bytes } = await signOutput(png, "image/png", { by: service });
  await own.verify(bytes);
  const [reading] = own.pids();
  for (let count = 0; count < 2; count++) await signOutput(png, "image/png", { by: own });
  await own.verify(bytes);
  // One that reads, one that signs, and the one with the key: each is used again for its own purpose only.
  expect([own.pids().length, own.pids()[0]]).toEqual([3, reading]);
});

test("an operator's program signs with a key that Gesso does not have", async () => {
  const keyPath = join(folder, "key.pem");
  writeFileSync(keyPath, chain.key);
  const program = join(folder, "sign.sh");
  writeFileSync(program, `#!/bin/sh\n[ "$1" = es256 ] || exit 2\nexec openssl dgst -sha256 -sign ${keyPath}\n`, {
    mode: 0o755,
  });
  const by = createService({ PROVENANCE_CERTIFICATE: chain.certificate, PROVENANCE_SIGN_COMMAND: program });
  const signed = await signOutput(await draw("#def").png().toBuffer(), "image/png", { by });
  expect((await readReport(signed.bytes, "image/png")).validation_state).toBe("Trusted");
});

test("an HTTP service signs, and while it is down signing fails as unavailable", async () => {
  const signing = await startSigningService({ sign: chain.key }, "signer-token");
  const env = { PROVENANCE_CERTIFICATE: chain.certificate, PROVENANCE_SIGN_URL: signing.urlOf("sign") };
  const by = createService({ ...env, PROVENANCE_SIGN_TOKEN: "signer-token" });
  const png = await draw("#246").png().toBuffer();
  expect((await readReport((await signOutput(png, "image/png", { by })).bytes, "image/png")).validation_state).toBe(
    "Trusted",
  );
  const refused = signOutput(png, "image/png", { by: createService(env) });
  await expect(refused).rejects.toMatchObject({ code: "dependency_unavailable" });
  await signing.close();
  await expect(signOutput(png, "image/png", { by })).rejects.toMatchObject({ code: "dependency_unavailable" });
});

test("of two chains the newer one signs, and an expired one never does", async () => {
  const old = await createCertificateChain({ name: "Old signer", fromDays: -60, toDays: 30 });
  const next = await createCertificateChain({ name: "New signer", fromDays: -1, toDays: 90 });
  const both = { PROVENANCE_CERTIFICATE: old.certificate + next.certificate, PROVENANCE_KEY: old.key + next.key };
  const png = await draw("#975").png().toBuffer();
  const signerAt = async (days: number) => {
    const by = createService(both, Date.now() + days * 86_400_000);
    const report = await readReport((await signOutput(png, "image/png", { by })).bytes, "image/png", by);
    return report.manifests[report.active_manifest].signature_info.common_name;
  };
  expect(await signerAt(0)).toBe("New signer");
  expect(await signerAt(-10)).toBe("Old signer");
  const late = createService(both, Date.now() + 200 * 86_400_000);
  await expect(signOutput(png, "image/png", { by: late })).rejects.toMatchObject({ code: "dependency_unavailable" });
});

test("a process that is killed is replaced for the next file", async () => {
  const own = createService(localKey);
  const png = await draw("#159").png().toBuffer();
  await signOutput(png, "image/png", { by: own });
  for (const pid of own.pids()) process.kill(pid, "SIGKILL");
  await expect(signOutput(png, "image/png", { by: own })).rejects.toMatchObject({ code: "dependency_unavailable" });
  let signed: Awaited<ReturnType<typeof signOutput>> | undefined;
  for (let attempt = 0; attempt < 3 && !signed; attempt++)
    signed = await signOutput(png, "image/png", { by: own }).catch(() => undefined);
  expect(signed?.provenance?.status).toBe("signed");
});
