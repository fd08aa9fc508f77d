// What provenance costs: time and bytes of a mark and of a signed manifest per image, in the processes that a server
// uses; and runs per second of the whole service in each mode, in turns.
import { parseArgs } from "node:util";
import { createCertificateChain } from "@gesso/dev/certificate-chain";
import sharp from "sharp";
import { describeOrigin } from "../../src/files/provenance/digital-source-type.ts";
import { createProvenanceService } from "../../src/files/provenance/provenance-service.ts";
import { ProvenanceEnv } from "../../src/files/provenance/settings.ts";
import { postBytes } from "../../src/outbound/trusted-request.ts";
import { compareSettings } from "./compare-settings.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    runs: { type: "string", default: "1000" },
    turns: { type: "string", default: "3" },
  },
});
const rounds = Number(values.rounds);
const chain = await createCertificateChain({ name: "Bench" });
const settings = ProvenanceEnv.parse({ PROVENANCE_CERTIFICATE: chain.certificate, PROVENANCE_KEY: chain.key });
const service = createProvenanceService(settings, {
  ...{ clock: { now: () => Date.now() }, postBytes, megabytes: 512, seconds: 30 },
});

const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
const ASSETS = ["01990c3e-2f00-7000-8000-6f0c1a2b3c4e", "01990c3e-2f00-7000-8000-6f0c1a2b3c4f"] as const;
const noise = { type: "gaussian", mean: 128, sigma: 20 } as const;
const image = sharp({ create: { width: 1024, height: 1024, channels: 3, background: "#468", noise } });
const FORMATS: Record<string, Uint8Array> = {
  "image/png": await image.clone().png().toBuffer(),
  "image/jpeg": await image.clone().jpeg({ quality: 90 }).toBuffer(),
  "image/webp": await image.clone().webp().toBuffer(),
};

function sign(bytes: Uint8Array, media_type: string, parent?: Uint8Array) {
  const listed = parent ? [{ asset_id: ASSETS[1], media_type, usage: "image" as const, isResult: true }] : [];
  const task = parent ? "image.edit" : "image.generate";
  const origin = describeOrigin(task, listed);
  const ids = { run_id: RUN, asset_id: ASSETS[0] };
  const mark = { ...ids, digitalSourceType: origin.digitalSourceType };
  const sources = listed.map(({ asset_id }) => ({
    ...{ asset_id, run_id: RUN, media_type, relationship: "parentOf" as const },
  }));
  const facts = { ...ids, media_type, task, model: "flux-dev", provider: "bench", prompt: undefined, origin, sources };
  return service.sign({ bytes, received: { bytes, media_type }, mark }, facts, parent ? [parent] : []);
}

function mark(bytes: Uint8Array, media_type: string) {
  const { digitalSourceType } = describeOrigin("image.generate", []);
  const file = { bytes, received: { bytes, media_type }, media_type };
  return service.mark({ ...file, mark: { run_id: RUN, asset_id: ASSETS[0], digitalSourceType } });
}

async function measure(name: string, size: number, work: () => Promise<{ bytes: Uint8Array }> | { bytes: Uint8Array }) {
  const times: number[] = [];
  let added = 0;
  for (let round = 0; round < rounds + 5; round++) {
    const before = performance.now();
    const { bytes } = await work();
    // The first rounds start the processes.
    if (round >= 5) times.push(performance.now() - before);
    added = bytes.byteLength - size;
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(1);
  console.log(`${name.padEnd(32)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  ${added} bytes added`);
}

console.log(`${rounds} rounds, one after the other, images of 1024 × 1024 pixels`);
for (const [type, bytes] of Object.entries(FORMATS)) {
  const size = bytes.byteLength;
  const signed = (await sign(bytes, type)).bytes;
  console.log(`${type}, ${size} bytes`);
  await measure("  mark", size, () => mark(bytes, type));
  await measure("  sign", size, () => sign(bytes, type));
  await measure("  sign, one signed ingredient", size, () => sign(bytes, type, signed));
  await measure("  verify", size, async () => {
    await service.verify(signed);
    return { bytes };
  });
}
service.close();

const key = { PROVENANCE_CERTIFICATE: chain.certificate, PROVENANCE_KEY: chain.key };
console.log(`\nwhole service, ${values.runs} runs with images of 64 × 64 pixels and without thumbnails, in turns`);
await compareSettings(
  {
    off: { env: { PROVENANCE: "off" } },
    mark: { env: { PROVENANCE: "mark" } },
    sign: { env: { PROVENANCE: "sign", ...key } },
  },
  { turns: Number(values.turns), runs: Number(values.runs) },
);
