import { expect, it } from "vitest";
import { Fault } from "../../faults/faults.ts";
import { createByteBudget } from "./byte-budget.ts";
import { type FetchDependencies, type FetchedOutput, type OutputToFetch, withFetchedOutput } from "./fetch-output.ts";

const MEGABYTE = 1024 * 1024;
const VIDEO_HEAD = Buffer.concat([Buffer.from([0, 0, 0, 16]), Buffer.from("ftypisom"), Buffer.alloc(4)]);
const PNG_HEAD = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
/** Everything that can go on has gone on: nothing here waits for more than promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

type ServedFile = { head: Uint8Array; megabytes: number; hasLength?: boolean };

function setUp(file: ServedFile, { budget = 512, maxOutput = 4096 } = {}) {
  const opened: string[] = [];
  let openCount = 0;
  const size = file.head.byteLength + file.megabytes * MEGABYTE;
  const byteBudget = createByteBudget(budget * MEGABYTE);
  const dependencies: FetchDependencies = {
    byteBudget,
    settings: { maxOutputBytes: maxOutput * MEGABYTE },
    http: {
      open: async (url, { maxBytes }) => {
        opened.push(url);
        if (file.hasLength !== false && size > maxBytes) throw new Fault("source_too_large", { max_bytes: maxBytes });
        const stream = async function* () {
          openCount++;
          try {
            yield file.head;
            for (let sent = 0; sent < file.megabytes; sent++) {
              if ((sent + 1) * MEGABYTE > maxBytes) throw new Fault("source_too_large", { max_bytes: maxBytes });
              yield new Uint8Array(MEGABYTE);
            }
          } finally {
            openCount--;
          }
        };
        return { media_type: "x/y", bytes: stream(), ...(file.hasLength !== false && { size_bytes: size }) };
      },
    },
  };
  const fetch = <T>(use: (fetched: FetchedOutput) => Promise<T>, options: Partial<OutputToFetch> = {}) =>
    withFetchedOutput(
      dependencies,
      {
        enabledProvider: { provider: { id: "x", resultOrigins: () => [] }, env: {} } as never,
        output: { url: "https://results.example/1" },
        signsVideos: async () => false,
        findTypeProblem: () => undefined,
        ...options,
      },
      use,
    );
  return { fetch, opened, byteBudget, openConnections: () => openCount, size };
}

const measure = async (fetched: FetchedOutput) => {
  if (!fetched.stream) return ["memory", fetched.bytes.byteLength];
  let bytes = 0;
  for await (const chunk of fetched.stream) bytes += chunk.byteLength;
  return ["stream", bytes];
};

for (const hasLength of [true, false]) {
  const announced = hasLength ? "with its length" : "without its length";
  it(`A large video ${announced} is a stream of all its bytes, and a small one is in memory`, async () => {
    const large = setUp({ head: VIDEO_HEAD, megabytes: 12, hasLength });
    expect(await large.fetch(measure)).toEqual(["stream", large.size]);
    expect([large.opened.length, large.openConnections()]).toEqual([1, 0]);
    const small = setUp({ head: VIDEO_HEAD, megabytes: 3, hasLength });
    expect(await small.fetch(measure)).toEqual(["memory", small.size]);
  });

  it(`A video ${announced} that is to be signed is in memory up to 100 MB`, async () => {
    const signsVideos = async () => true;
    const most = setUp({ head: VIDEO_HEAD, megabytes: 99, hasLength });
    expect(await most.fetch(measure, { signsVideos })).toEqual(["memory", most.size]);
    const more = setUp({ head: VIDEO_HEAD, megabytes: 101, hasLength });
    expect(await more.fetch(measure, { signsVideos })).toEqual(["stream", more.size]);
  });

  it(`An image ${announced} is in memory, whatever its size`, async () => {
    const image = setUp({ head: PNG_HEAD, megabytes: 40, hasLength });
    expect(await image.fetch(measure)).toEqual(["memory", image.size]);
  });

  it(`A result ${announced} above the setting is not invalid: the fault names the setting and lets the step repeat`, async () => {
    const { fetch } = setUp({ head: VIDEO_HEAD, megabytes: 12, hasLength }, { maxOutput: 10 });
    await expect(fetch(measure)).rejects.toMatchObject({
      code: "storage_failed",
      details: { reason: "output_too_large", max_bytes: 10 * MEGABYTE, setting: "MAX_OUTPUT_MEGABYTES" },
      message: expect.stringContaining("MAX_OUTPUT_MEGABYTES"),
    });
  });
}

it("A file of a kind that the job does not announce is refused by its first bytes", async () => {
  const sent = setUp({ head: Buffer.alloc(5000, "nothing that is known. "), megabytes: 4000, hasLength: false });
  const findTypeProblem = (mediaType: string) => (mediaType.startsWith("text/") ? "not_a_video" : undefined);
  await expect(sent.fetch(measure, { findTypeProblem })).rejects.toMatchObject({
    code: "provider_output_invalid",
    details: { reason: "not_a_video", media_type: "text/plain" },
  });
  expect(sent.openConnections()).toBe(0);
});

it("A file that Gesso does not read is a stream, also if it came inside the response", async () => {
  const head = Buffer.concat([Buffer.from("RIFF\x10\0\0\0WAVEfmt "), Buffer.alloc(5000)]);
  const sound = setUp({ head, megabytes: 2 });
  expect(await sound.fetch(measure)).toEqual(["stream", sound.size]);
  const typeOf = async (fetched: FetchedOutput) => fetched.stream && fetched.media_type;
  expect(await sound.fetch(typeOf)).toBe("audio/wav");
  const inside = { output: { bytes: head, media_type: "image/png" } };
  expect([await sound.fetch(measure, inside), await sound.fetch(typeOf, inside)]).toEqual([
    ["stream", head.byteLength],
    "audio/wav",
  ]);
});

it("A file waits for space in the budget without a connection, and is fetched again when there is", async () => {
  const { fetch, opened, byteBudget, openConnections } = setUp({ head: PNG_HEAD, megabytes: 20 }, { budget: 32 });
  const other = await byteBudget.reserve(16 * MEGABYTE);
  const fetched = fetch(measure);
  await settled();
  expect([opened.length, openConnections()]).toEqual([1, 0]);
  other.release();
  expect((await fetched)[0]).toBe("memory");
  expect(opened).toHaveLength(2);
});

it("Streams are bounded by the budget too, and release it when they end or fail", async () => {
  const { fetch, openConnections } = setUp({ head: VIDEO_HEAD, megabytes: 12 }, { budget: 64 });
  const gates = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const started: number[] = [];
  const works = gates.map(({ promise }, index) =>
    fetch(async () => {
      started.push(index);
      await promise;
    }),
  );
  await settled();
  expect([started, openConnections()]).toEqual([[0, 1], 2]);
  gates[0]!.reject(new Error("the disk is full"));
  await expect(works[0]).rejects.toThrow("the disk is full");
  await expect.poll(() => started).toEqual([0, 1, 2]);
  for (const { resolve } of gates) resolve();
  await Promise.all(works.slice(1));
  expect(openConnections()).toBe(0);
});

it("A wait for space ends when the result is no longer wanted", async () => {
  const { fetch, byteBudget, opened } = setUp({ head: PNG_HEAD, megabytes: 1 }, { budget: 8 });
  await byteBudget.reserve(8 * MEGABYTE);
  const control = new AbortController();
  const fetched = fetch(measure, { signal: control.signal });
  control.abort(new Error("claim lost"));
  await expect(fetched).rejects.toThrow("claim lost");
  expect(opened).toEqual([]);
});
