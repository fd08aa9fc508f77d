// Sends generated inputs through a running server to the fake of their provider, and compares what arrives there: the
// body has every value as it was sent, and the bytes of every file; an input that is wrong in one place names the place
// and arrives nowhere.
import type { PinnedModel } from "../../src/contract/pinned-model.ts";
import { findFiles, replaceAt } from "../../src/contract/pinned-model.ts";
import type { FakeVendor, VendorJob } from "../fake-vendors/fake-vendor.ts";
import { createWave } from "../fake-vendors/published-models.ts";
import { drawTestImage } from "../fake-vendors/result-files.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import type { FalEndpoint } from "./fal-endpoints.ts";
import type { Schema } from "./generate-inputs.ts";
import { findPointer, generateInputs, toPointer } from "./judge-inputs.ts";

export type SentInputs = {
  /** Valid inputs, wrong ones, and files in the valid ones. */
  valid: number;
  wrong: number;
  files: number;
  completed: number;
  problems: string[];
};
type Size = { count: number; seed: number; atOnce: number; onModel?: (sent: SentInputs) => void };
/** A file as an input names it, and its bytes. */
type Source = { value: unknown; bytes: Buffer };

/** `fal` is the fake that the server uses. */
export async function sendInputs(
  world: Pick<TestEnvironment, "url" | "key">,
  fal: FakeVendor,
  endpoints: readonly (FalEndpoint & { model: PinnedModel })[],
  { count, seed, atOnce, onModel }: Size,
): Promise<SentInputs> {
  const caller = createHttpCaller(world);
  const sources = await makeSources(caller);
  const sent: SentInputs = { valid: 0, wrong: 0, files: 0, completed: 0, problems: [] };
  const waiting = [...endpoints];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      fal.switches.published[next.path] = next.document;
      const added = await caller.post("/catalogue/models", { model: next.model.model });
      if (added.body.schema_hash !== next.model.hash) {
        sent.problems.push(
          `${next.path} was not imported: ${added.status} ${JSON.stringify(added.body).slice(0, 600)}`,
        );
        continue;
      }
      await sendToModel({ caller, fal, sources, sent }, next.model, { count, seed });
      onModel?.(sent);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return sent;
}

/** In every form in which a file can be given. An upload is a run without a job at a provider. */
async function makeSources(caller: ApiCaller): Promise<Source[]> {
  const [image, sound] = [await drawTestImage("a source"), createWave()];
  const form = new FormData();
  form.append(
    "file",
    new Blob([new Uint8Array(await drawTestImage("an upload"))], { type: "image/png" }),
    "source.png",
  );
  const { body } = await caller.post("/upload", form);
  const { run_id, image_url } = body.data;
  const stored = Buffer.from(await (await fetch(image_url)).arrayBuffer());
  return [
    { value: { run_id }, bytes: stored },
    { value: `data:image/png;base64,${image.toString("base64")}`, bytes: image },
    { value: image_url, bytes: stored },
    { value: `data:audio/wav;base64,${sound.toString("base64")}`, bytes: sound },
    { value: run_id, bytes: stored },
    { value: { run_id, output_index: 0 }, bytes: stored },
  ];
}

type Sending = { caller: ApiCaller; fal: FakeVendor; sources: Source[]; sent: SentInputs };

/** One input at a time, so that the last job of the model in the ledger is the one that was made of it. */
async function sendToModel(
  { caller, fal, sources, sent }: Sending,
  model: PinnedModel,
  size: Pick<Size, "count" | "seed">,
) {
  const generated = generateInputs(model, { ...size, files: sources.map(({ value }) => value) });
  const listJobs = () => fal.ledger.filter((job) => job.model === model.upstream);
  const complain = (about: string, input: unknown) =>
    sent.problems.push(`${model.model} ${about}: ${JSON.stringify(input).slice(0, 600)}`);
  for (const input of generated.valid) {
    const before = listJobs().length;
    const { status, body } = await caller.post("/runs", { model: model.model, input, sync: true });
    sent.valid += 1;
    if (status >= 300) {
      complain(`is refused (${JSON.stringify(body)})`, input);
      continue;
    }
    const run = await caller.waitUntilEnded(body.run_id, 60);
    if (run.status === "completed") sent.completed += 1;
    else complain(`fails (${JSON.stringify(run.error)})`, input);
    const jobs = listJobs().slice(before);
    if (jobs.length !== 1) complain(`is submitted ${jobs.length} times`, input);
    const files = findFiles(input, model.media.input);
    sent.files += files.length;
    const difference = jobs[0] && (await findDifference(jobs[0], input, { files, sources }));
    if (difference !== undefined) complain(difference, input);
  }
  for (const { kind, path, input } of generated.wrong) {
    const before = listJobs().length;
    const { status, body } = await caller.post("/runs", { model: model.model, input });
    sent.wrong += 1;
    if (status !== 400 || !findPointer(path, body.details?.errors ?? []))
      complain(`gets ${status} without ${toPointer(path)} (${kind})`, input);
    if (listJobs().length > before) complain(`is paid although ${toPointer(path)} is wrong`, input);
  }
}

type Expected = { files: ReturnType<typeof findFiles>; sources: Source[] };

/** What arrived otherwise than it was sent. */
async function findDifference({ request }: VendorJob, input: Schema, { files, sources }: Expected) {
  let [expected, received] = [input, request as Schema];
  for (const { path, value } of files) {
    const arrived = path.reduce<any>((at, key) => at?.[key], request);
    const { bytes } = sources.find((source) => JSON.stringify(source.value) === JSON.stringify(value))!;
    if (!(await readFile(arrived)).equals(bytes)) return `has other bytes in ${path.join("/")}`;
    [expected, received] = [replaceAt(expected, path, "a file"), replaceAt(received, path, "a file")];
  }
  const [before, after] = [canonicalText(expected), canonicalText(received)];
  return before === after ? undefined : `arrives as ${after.slice(0, 600)}`;
}

const readFile = async (url: unknown): Promise<Buffer> =>
  Buffer.from(await (await fetch(String(url))).arrayBuffer().catch(() => new ArrayBuffer(0)));

/** PostgreSQL keeps every value of an object, and not the order of its fields, which has no meaning in JSON. */
const canonicalText = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    each !== null && typeof each === "object" && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
