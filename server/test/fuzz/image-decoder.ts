// Mutates images and passes them to the image validation for a given time: `npm run proof -- fuzz-images --minutes 60`.
// Each must be decoded or rejected; a file that is neither is saved, with its seed.
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Fault } from "../../src/faults/faults.ts";
import { createDecoderPool } from "../../src/files/images/decoder-pool.ts";
import { createImageDecoder } from "../../src/files/images/image-decoder.ts";
import { mutateImage } from "../corpora/mutate-image.ts";
import { createUploadCorpus } from "../corpora/uploads.ts";

const EXPECTED_FAULTS = ["unsupported_image_format", "image_undecodable", "image_too_many_pixels"].concat([
  "image_too_small",
  "image_animated_not_supported",
]);
const { values } = parseArgs({
  options: { minutes: { type: "string" }, files: { type: "string" }, seed: { type: "string", default: "1" } },
});
const end = performance.now() + Number(values.minutes ?? 1e9) * 60_000;
const maxFiles = Number(values.files ?? (values.minutes ? 1e12 : 2000));
const folder = join(tmpdir(), "gesso-fuzz-gate");

const small = (await createUploadCorpus()).filter(
  ({ bytes, verdict }) => bytes.length < 100_000 && verdict !== "unsupported_image_format",
);
const images = small.map(({ bytes }) => bytes);
const warnings: object[] = [];
const log = { info: () => {}, warn: (fields: object) => void warnings.push(fields) };
const decoders = createDecoderPool({ count: 2, megabytes: 1024, seconds: 20, log });
const { normalize, toMask } = createImageDecoder(decoders);

const outcomes: Record<string, number> = {};
const failures: string[] = [];
const checkMutation = async (seed: number) => {
  const bytes = mutateImage(images, seed);
  let outcome: string;
  try {
    const stored = await normalize(bytes);
    // An accepted image must stay accepted: validated again it is the same, and a mask can be made of it.
    const again = await normalize(stored.bytes);
    await toMask(stored.bytes);
    outcome = again.manifest === undefined && again.width === stored.width ? "kept" : "changed";
  } catch (thrown) {
    outcome = thrown instanceof Fault ? thrown.code : String(thrown);
  }
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  if (outcome === "kept" || EXPECTED_FAULTS.includes(outcome)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${seed}.bin`), bytes);
  failures.push(`seed ${seed}: ${outcome}`);
};

let next = Number(values.seed);
const first = next;
const work = async () => {
  while (performance.now() < end && next < first + maxFiles) await checkMutation(next++);
};
await Promise.all([work(), work(), work(), work()]);
decoders.close();
console.log(`${next - first} damaged images: ${JSON.stringify(outcomes)}; ${warnings.length} ended a decoder`);
for (const failure of failures.slice(0, 20)) console.log(`FAILED ${failure} (kept in ${folder})`);
process.exit(failures.length > 0 ? 1 : 0);
