// Writes the images of a completed run as OpenAI's clients read them: URLs, or base64 that is read from storage piece
// by piece, so that a response of ten large images needs no more memory than one of them.
import { buffer } from "node:stream/consumers";
import type { Database } from "../../db/connect.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { type AssetDownload, openAsset } from "../../library/asset-download.ts";
import { convertCopy } from "../../runs/outputs/convert-output.ts";
import { renderAsset } from "../../runs/show/render-run.ts";
import type { HttpServices } from "../http-services.ts";

/** `outputFormat`: convert images of other formats. Undefined: as the provider made them. */
export type ClientImageFormat = {
  isUrl: boolean;
  outputFormat: "png" | "jpeg" | "webp" | undefined;
  /** What differs from the request, in sentences. */
  warnings: readonly string[];
};

type Services = HttpServices["runs"] & { database: Database };

/** What both the response and the event of a stream say about an image. */
const propertiesOf = ({ width, height, media_type }: StoredAsset, { outputFormat, warnings }: ClientImageFormat) => ({
  output_format: outputFormat ?? media_type.replace("image/", ""),
  ...(width && height && { size: `${width}x${height}` }),
  ...(warnings.length > 0 && { warnings }),
});

export const listImages = (row: RunRow): StoredAsset[] =>
  (row.result?.outputs ?? []).filter(({ media_type }) => media_type.startsWith("image/"));

/** Opens the files of a run's images. Files that are gone are noticed here, before the status is sent. */
export const openImages = (services: Services, row: RunRow): Promise<AssetDownload[]> =>
  Promise.all(listImages(row).map(({ asset_id }) => openAsset(services, asset_id)));

/** The body of a response: `{ created, data: [{ b64_json | url }], size, output_format }`. Without files, of URLs. */
export async function* writeImages(
  services: Services,
  { row, files }: { row: RunRow; files: readonly AssetDownload[] },
  format: ClientImageFormat,
): AsyncGenerator<Uint8Array> {
  const images = listImages(row);
  yield text(`{"created":${secondsOf(row)},"data":[`);
  for (const [index, image] of images.entries()) {
    if (index > 0) yield text(",");
    const file = files[index];
    if (!file) yield text(JSON.stringify({ url: renderAsset(services, image).url }));
    else {
      yield text('{"b64_json":"');
      yield* readBase64(services, { row, image, file }, format);
      yield text('"}');
    }
  }
  const [first] = images;
  const rest = JSON.stringify(first ? propertiesOf(first, format) : {}).slice(1);
  yield text(`]${rest === "}" ? "" : ","}${rest}`);
}

/** The event with one finished image. Its type begins with `image_generation` or `image_edit`. */
export async function* writeCompletedEvent(
  services: Services,
  { row, image, type }: { row: RunRow; image: StoredAsset; type: string },
  format: ClientImageFormat,
): AsyncGenerator<Uint8Array> {
  const about = {
    type,
    created_at: secondsOf(row),
    ...{ background: "auto", quality: "auto" },
    ...propertiesOf(image, format),
    // Providers charge for images, not for tokens. OpenAI's clients require the field.
    usage: {
      ...{ input_tokens: 0, output_tokens: 0, total_tokens: 0 },
      input_tokens_details: { image_tokens: 0, text_tokens: 0 },
    },
  };
  yield text(`event: ${type}\ndata: ${JSON.stringify(about).slice(0, -1)},"b64_json":"`);
  yield* readBase64(services, { row, image, file: await openAsset(services, image.asset_id) }, format);
  yield text('"}\n\n');
}

async function* readBase64(
  services: Services,
  { row, image, file }: { row: RunRow; image: StoredAsset; file: AssetDownload },
  { outputFormat }: ClientImageFormat,
): AsyncGenerator<Uint8Array> {
  const stream = await file.read();
  if (outputFormat === undefined || image.media_type === `image/${outputFormat}`) {
    yield* encodeBase64(stream);
    return;
  }
  const original = { run_id: row.run_id, asset: image, bytes: await buffer(stream) };
  yield text(Buffer.from(await convertCopy(services, original, `image/${outputFormat}`)).toString("base64"));
}

const secondsOf = ({ created_at }: RunRow) => Math.floor(created_at.getTime() / 1000);
const text = (value: string) => Buffer.from(value);

/** Three bytes are four characters: what is left over of a piece begins the next group. */
const GROUP_BYTES = 3;

/** Encodes bytes as base64 piece by piece: a large file is never in memory as a whole, and pieces are not joined. */
export async function* encodeBase64(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const piece of pieces) {
    const group = rest.length > 0 ? Buffer.concat([rest, piece.subarray(0, GROUP_BYTES - rest.length)]) : rest;
    if (group.length % GROUP_BYTES !== 0) {
      rest = group;
      continue;
    }
    const start = group.length - rest.length;
    const end = piece.length - ((piece.length - start) % GROUP_BYTES);
    if (end > 0) yield Buffer.from(encode(group) + encode(piece.subarray(start, end)), "latin1");
    rest = piece.subarray(end);
  }
  if (rest.length > 0) yield Buffer.from(encode(rest), "latin1");
}

const encode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
