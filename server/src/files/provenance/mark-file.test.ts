import sharp from "sharp";
import { expect, test } from "vitest";
import { createTestVideo } from "../../../test/fake-vendors/result-files.ts";
import { inspectVideo } from "../formats/inspect-video.ts";
import { readStructure } from "../images/image-decoder.ts";
import { DIGITAL_SOURCE_TYPES } from "./digital-source-type.ts";
import { markFile, readFileParts, readMark } from "./mark-file.ts";
import { readXmpMark } from "./xmp-packet.ts";

const MARK = {
  run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d",
  asset_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4e",
  digitalSourceType: DIGITAL_SOURCE_TYPES.generated,
};
const noise = (channels: 3 | 4 = 3) =>
  sharp({
    create: {
      width: 61,
      height: 47,
      channels,
      background: { r: 90, g: 40, b: 200, alpha: 0.5 },
      noise: { type: "gaussian", mean: 128, sigma: 40 },
    },
  });
const pixelsOf = (bytes: Uint8Array) => sharp(bytes).raw().toBuffer();

const FILES: Record<string, [mediaType: string, make: () => Promise<Buffer>]> = {
  "a PNG": ["image/png", () => noise().png().toBuffer()],
  "a PNG with transparency": ["image/png", () => noise(4).png().toBuffer()],
  "a JPEG": ["image/jpeg", () => noise().jpeg().toBuffer()],
  "a progressive JPEG with EXIF": [
    "image/jpeg",
    () =>
      noise()
        .withExif({ IFD0: { Copyright: "x" } })
        .jpeg({ progressive: true })
        .toBuffer(),
  ],
  "a lossy WebP": ["image/webp", () => noise().webp().toBuffer()],
  "a lossless WebP": ["image/webp", () => noise().webp({ lossless: true }).toBuffer()],
  "a lossless WebP with transparency": ["image/webp", () => noise(4).webp({ lossless: true }).toBuffer()],
  "a lossy WebP with transparency": ["image/webp", () => noise(4).webp().toBuffer()],
};

for (const [name, [mediaType, make]] of Object.entries(FILES)) {
  test(`${name} has the same pixels with its mark, and readers find the mark`, async () => {
    const bytes = await make();
    const marked = markFile(readFileParts(bytes, mediaType), bytes, MARK);
    expect(marked.state).toBe("marked");
    expect((await pixelsOf(marked.bytes)).equals(await pixelsOf(bytes))).toBe(true);
    expect(readMark(readFileParts(marked.bytes, mediaType))).toEqual({
      digital_source_type: MARK.digitalSourceType,
      creator_tool: expect.stringMatching(/^Gesso /),
      run_id: MARK.run_id,
      asset_id: MARK.asset_id,
    });
    // An independent reader, and the reader of uploads.
    expect((await sharp(marked.bytes).metadata()).xmpAsString).toContain(MARK.digitalSourceType);
    expect(readStructure(marked.bytes)).toMatchObject({ media_type: mediaType, width: 61, height: 47 });
  });
}

test("a video plays as before, and marking it twice changes nothing", async () => {
  const video = await createTestVideo();
  const { bytes } = markFile(readFileParts(video, "video/mp4"), video, MARK);
  expect(await inspectVideo(bytes)).toEqual(await inspectVideo(video));
  expect(Buffer.from(bytes.subarray(0, video.byteLength)).equals(Buffer.from(video))).toBe(true);
  const parts = readFileParts(bytes, "video/mp4");
  expect(readMark(parts)?.asset_id).toBe(MARK.asset_id);
  expect(markFile(parts, bytes, MARK).bytes).toBe(bytes);
});

test("marking is deterministic, so a repeated step stores the same bytes", async () => {
  const bytes = await noise().png().toBuffer();
  const [first, second] = [1, 2].map(() => markFile(readFileParts(bytes, "image/png"), bytes, MARK).bytes);
  expect(Buffer.from(first!).equals(Buffer.from(second!))).toBe(true);
});

test("a PNG also has text chunks for tools that do not read XMP", async () => {
  const bytes = await noise().png().toBuffer();
  const marked = markFile(readFileParts(bytes, "image/png"), bytes, MARK);
  const { comments } = await sharp(marked.bytes).metadata();
  expect(comments).toContainEqual({ keyword: "Comment", text: `Digital source type: ${MARK.digitalSourceType}` });
});

test("another XMP packet is replaced, and one with a digital source type is kept", async () => {
  const other = await noise().withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"/>').png().toBuffer();
  const marked = markFile(readFileParts(other, "image/png"), other, MARK);
  expect(Buffer.from(marked.bytes).toString("latin1").split("XML:com.adobe.xmp").length).toBe(2);
  const own = await noise()
    .withXmp(
      '<rdf:Description Iptc4xmpExt:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/algorithmicMedia"/>',
    )
    .png()
    .toBuffer();
  expect(markFile(readFileParts(own, "image/png"), own, MARK)).toEqual({ bytes: own, state: "marked" });
});

test("a truncated file and another format stay as they are", async () => {
  for (const [mediaType, make] of Object.values(FILES)) {
    const whole = await make();
    const cut = whole.subarray(0, mediaType === "image/jpeg" ? 30 : whole.byteLength - 20);
    expect(markFile(readFileParts(cut, mediaType), cut, MARK)).toEqual({ bytes: cut, state: "unmarked" });
  }
  const text = Buffer.from("GIF89a");
  expect(markFile(readFileParts(text, "image/gif"), text, MARK)).toEqual({ bytes: text, state: "unmarked" });
});

test("the digital source type is read as an attribute and as an element", () => {
  const type = DIGITAL_SOURCE_TYPES.composed;
  expect(
    readXmpMark(`<Iptc4xmpExt:DigitalSourceType>${type}</Iptc4xmpExt:DigitalSourceType>`)?.digital_source_type,
  ).toBe(type);
  expect(readXmpMark("<x:xmpmeta/>")).toBeUndefined();
});
