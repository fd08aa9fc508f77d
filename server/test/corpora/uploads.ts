// The 48 files that the image validation must handle as listed here: valid ones, bombs, animations, unsupported
// formats, disguises, two files in one, damage, metadata. `node uploads.ts FOLDER` writes them to a folder.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import * as make from "./image-bytes.ts";

/** The expected response: 201, or an error with one of these codes. */
export type ExpectedOutcome =
  | "kept"
  | "image_too_many_pixels"
  | "image_undecodable"
  | "image_animated_not_supported"
  | "unsupported_image_format";
export type UploadCase = { group: string; name: string; filename: string; bytes: Buffer; verdict: ExpectedOutcome };

/** Stands in everything that must not survive. */
export const METADATA_CANARY = "canary-in-the-mine";

const scene = (): Sharp =>
  sharp({
    create: {
      width: 96,
      height: 64,
      channels: 3,
      background: "#888",
      noise: { type: "gaussian", mean: 128, sigma: 40 },
    },
  });
const script = `<script>/*${METADATA_CANARY}*/alert(1)</script>`;

export async function createUploadCorpus(): Promise<UploadCase[]> {
  const png = await scene().png().toBuffer();
  const jpeg = await scene().jpeg().toBuffer();
  const groups = {
    good: await good(),
    bombs: await bombs(png, jpeg),
    animation: await animations(png),
    blocked: await blocked(),
    disguised: disguised(),
    polyglot: await polyglots(png, jpeg),
    damaged: damaged(png, jpeg),
    metadata: await metadata(png, jpeg),
  };
  return Object.entries(groups).flatMap(([group, files]) =>
    files.map(([filename, bytes, verdict]) => ({ group, name: `${group}/${filename}`, filename, bytes, verdict })),
  );
}

type File = [filename: string, bytes: Buffer, verdict: ExpectedOutcome];

const good = async (): Promise<File[]> => [
  ["baseline.jpg", await scene().jpeg().toBuffer(), "kept"],
  ["progressive.jpg", await scene().jpeg({ progressive: true }).toBuffer(), "kept"],
  ["cmyk.jpg", await scene().toColourspace("cmyk").jpeg().toBuffer(), "kept"],
  ["eight-bit-alpha.png", await scene().ensureAlpha(0.5).png().toBuffer(), "kept"],
  ["sixteen-bit.png", await scene().toColourspace("rgb16").png().toBuffer(), "kept"],
  ["palette.png", await scene().png({ palette: true, colours: 32 }).toBuffer(), "kept"],
  ["lossy.webp", await scene().webp().toBuffer(), "kept"],
  ["lossless.webp", await scene().webp({ lossless: true }).toBuffer(), "kept"],
];

const bombs = async (png: Buffer, jpeg: Buffer): Promise<File[]> => {
  const side = 30_000;
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  const huge = Buffer.from(jpeg);
  huge.writeUInt16BE(65_500, frame + 5);
  huge.writeUInt16BE(65_500, frame + 7);
  const note = await make.deflatedZeros(200_000_000);
  const rows = (bytesPerRow: number, count: number) => make.deflatedZeros((bytesPerRow + 1) * count);
  return [
    [
      "one-bit.png",
      make.buildPng({ width: side, height: side, depth: 1 }, await rows(3750, side)),
      "image_too_many_pixels",
    ],
    ["grey.png", make.buildPng({ width: side, height: side }, await rows(side, side)), "image_too_many_pixels"],
    [
      "rgba.png",
      make.buildPng({ width: 10_000, height: 10_000, colour: 6 }, await rows(40_000, 10_000)),
      "image_too_many_pixels",
    ],
    [
      "header-lies.png",
      make.buildPng({ width: 65_535, height: 65_535 }, make.deflate(Buffer.alloc(4))),
      "image_too_many_pixels",
    ],
    [
      "profile.png",
      make.pngWith(png, make.pngChunk("iCCP", Buffer.concat([make.latin1("icc\0\0"), note]))),
      "image_undecodable",
    ],
    [
      "text.png",
      make.pngWith(png, make.pngChunk("zTXt", Buffer.concat([make.latin1("note\0\0"), note]))),
      "image_undecodable",
    ],
    ["header.jpg", huge, "image_too_many_pixels"],
  ];
};

const animations = async (png: Buffer): Promise<File[]> => {
  const raw = { width: 32, height: 96, channels: 3 as const, pageHeight: 32 };
  const strip = await sharp({
    create: { width: 32, height: 96, channels: 3, background: "teal", noise: { type: "gaussian", mean: 99, sigma: 9 } },
  })
    .raw()
    .toBuffer();
  const frames = { loop: 0, delay: [9, 9, 9] };
  const control = Buffer.alloc(8);
  control.writeUInt32BE(10_000, 0);
  return [
    ["ten-thousand-frames.gif", gif(10_000), "unsupported_image_format"],
    ["animated.png", make.pngWith(png, make.pngChunk("acTL", control)), "image_animated_not_supported"],
    ["animated.webp", await sharp(strip, { raw }).webp(frames).toBuffer(), "image_animated_not_supported"],
    ["one-frame.gif", gif(1), "unsupported_image_format"],
  ];
};

/** Frames of sixteen pixels a side, each a few bytes. */
const gif = (frames: number): Buffer => {
  const start = Buffer.from("474946383961100010008000000000ffffff", "hex");
  const frame = Buffer.from("21f90400000000002c000000001000100000020e8c8fa9cbed0fa39cb4da8bb33e0500", "hex");
  return Buffer.concat([start, ...Array<Buffer>(frames).fill(frame), Buffer.from([0x3b])]);
};

const blocked = async (): Promise<File[]> => {
  const svg = (inside: string, before = "") =>
    Buffer.from(
      `<?xml version="1.0"?>${before}<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">${inside}</svg>`,
    );
  const entity = '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>';
  const bmp = Buffer.concat([make.latin1("BM"), Buffer.alloc(52), Buffer.alloc(32 * 32 * 3, 0x7f)]);
  return [
    ["script.svg", svg(script), "unsupported_image_format"],
    ["entity.svg", svg("<text>&x;</text>", entity), "unsupported_image_format"],
    [
      "photo.heic",
      Buffer.concat([Buffer.from([0, 0, 0, 24]), make.latin1("ftypheic\0\0\0\0mif1heic"), Buffer.alloc(500)]),
      "unsupported_image_format",
    ],
    ["photo.avif", await scene().avif({ effort: 0 }).toBuffer(), "unsupported_image_format"],
    ["photo.tiff", await scene().tiff().toBuffer(), "unsupported_image_format"],
    ["photo.bmp", bmp, "unsupported_image_format"],
    ["photo.psd", Buffer.concat([make.latin1("8BPS\0\x01"), Buffer.alloc(600)]), "unsupported_image_format"],
    ["photo.v", Buffer.concat([Buffer.from("08f2a6b6", "hex"), Buffer.alloc(600)]), "unsupported_image_format"],
  ];
};

const disguised = (): File[] => [
  ["page.png", Buffer.from(`<!doctype html><html>${script}</html>`), "unsupported_image_format"],
  [
    "paper.jpg",
    Buffer.from("%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"),
    "unsupported_image_format",
  ],
  [
    "weights.SAFETENSORS",
    Buffer.concat([
      Buffer.from("80049500000000", "hex"),
      make.latin1("cposix\nsystem\nq\0X\x02\0\0\0idq\x01\x85q\x02Rq\x03."),
    ]),
    "unsupported_image_format",
  ],
  ["program.webp", Buffer.concat([make.latin1("MZ\x90\0"), Buffer.alloc(600)]), "unsupported_image_format"],
  [
    "drawing.png",
    Buffer.from(`<!-- \x89PNG --><svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`),
    "unsupported_image_format",
  ],
  ["archive.png", Buffer.concat([make.latin1("PK\x03\x04"), Buffer.alloc(600)]), "unsupported_image_format"],
];

const polyglots = async (png: Buffer, jpeg: Buffer): Promise<File[]> => {
  const zip = Buffer.concat([
    make.latin1("PK\x03\x04"),
    Buffer.alloc(26),
    make.latin1(`${METADATA_CANARY}.class`),
    make.latin1("PK\x05\x06"),
    Buffer.alloc(18),
  ]);
  return [
    ["tail-of-html.png", Buffer.concat([png, Buffer.from(script)]), "kept"],
    [
      "comment-of-script.jpg",
      make.jpegWithSegments(jpeg, make.jpegSegment(0xfe, Buffer.from(`*/=1;/*${script}`))),
      "kept",
    ],
    ["archive.gif", Buffer.concat([gif(1), zip]), "unsupported_image_format"],
    [
      "paper-around-photo.jpg",
      Buffer.concat([make.latin1("%PDF-1.7\n1 0 obj<<>>stream\n"), jpeg, make.latin1("\nendstream\n%%EOF")]),
      "unsupported_image_format",
    ],
    ["tail-of-archive.png", Buffer.concat([png, zip]), "kept"],
  ];
};

const damaged = (png: Buffer, jpeg: Buffer): File[] => {
  const wrong = Buffer.from(png);
  wrong[png.indexOf("IDAT") + 40]! ^= 1;
  const icc = Buffer.concat([make.latin1("ICC_PROFILE\0\x01\x01"), Buffer.from([0, 0, 2, 12]), Buffer.alloc(90, 7)]);
  return [
    ["empty.png", Buffer.alloc(0), "image_undecodable"],
    ["one-byte.png", png.subarray(0, 1), "image_undecodable"],
    ["half.jpg", jpeg.subarray(0, jpeg.length / 2), "image_undecodable"],
    ["checksum.png", wrong, "image_undecodable"],
    ["exif-in-circles.jpg", make.jpegWithSegments(jpeg, make.jpegSegment(0xe1, make.selfReferencingExif())), "kept"],
    ["profile-cut-off.jpg", make.jpegWithSegments(jpeg, make.jpegSegment(0xe2, icc)), "kept"],
  ];
};

const metadata = async (png: Buffer, jpeg: Buffer): Promise<File[]> => {
  const place = {
    IFD0: { Artist: METADATA_CANARY, Make: METADATA_CANARY },
    IFD3: { GPSLatitude: "51/1 30/1 0/1", GPSLongitude: "0/1 7/1 0/1" },
  };
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/">${script}</x:xmpmeta>`;
  return [
    ["where-it-was-taken.jpg", await sharp(jpeg).withExif(place).jpeg().toBuffer(), "kept"],
    ["on-its-side.jpg", await rotatedImage(6), "kept"],
    ["script-in-xmp.png", await sharp(png).withXmp(xmp).png().toBuffer(), "kept"],
    ["signed.jpg", make.jpegWith(jpeg, c2paManifestStore), "kept"],
  ];
};

/** What the signed file must leave behind as evidence. */
export const c2paManifestStore = make.createC2paManifestStore(150_000);

/** Four colours in the corners, stored with this EXIF orientation; upright it is 96 x 64 with red at the top left. */
export const rotatedImage = async (orientation: number): Promise<Buffer> => {
  const upright = Buffer.alloc(96 * 64 * 3);
  for (let y = 0; y < 64; y++) {
    for (let x = 0; x < 96; x++) upright.set([x < 48 ? 250 : 10, y < 32 ? 10 : 250, 60], (y * 96 + x) * 3);
  }
  const sourceImage = sharp(upright, { raw: { width: 96, height: 64, channels: 3 } });
  // Turned the other way by hand, so that nothing here depends on what is tested.
  const undo: Record<number, (image: Sharp) => Sharp> = {
    1: (image) => image,
    2: (image) => image.flop(),
    3: (image) => image.rotate(180),
    4: (image) => image.flip(),
    5: (image) => image.flop().rotate(270),
    6: (image) => image.rotate(270),
    7: (image) => image.flop().rotate(90),
    8: (image) => image.rotate(90),
  };
  const turned = await undo[orientation]!(sourceImage).png().toBuffer();
  return sharp(turned).withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer();
};

const [folder] = process.argv[1]?.endsWith("make-uploads.ts") ? process.argv.slice(2) : [];
if (folder) {
  for (const { group, filename, bytes } of await createUploadCorpus()) {
    await mkdir(join(folder, group), { recursive: true });
    await writeFile(join(folder, group, filename), bytes);
  }
}
