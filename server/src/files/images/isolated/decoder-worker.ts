// The program of a decoder process: reports the restrictions in effect, then handles one message after the other until
// its input ends.

import type { ImageSize } from "../../formats/image-size.ts";
import { type DecoderMessage, encodeDecoderMessage, readDecoderMessages } from "../decoder-protocol.ts";
import type { LostMargins } from "../fingerprint.ts";
import { joinParts, type PixelTask, splitParts } from "../pixel-tasks.ts";
import { assertDecodable, type ReencodeOptions, reencodeUpright } from "./decode.ts";
import { fingerprintImage } from "./fingerprint-image.ts";
import { makeThumbnails } from "./make-thumbnails.ts";
import { mergeMasks } from "./merge-masks.ts";
import { maskFromTransparency, normalizeMask } from "./normalize-mask.ts";
import { performPixelTask } from "./perform-pixel-task.ts";
import { readSandboxStatus } from "./sandbox-status.ts";

const MAX_MESSAGE_BYTES = 512 * 1024 * 1024;
const nothing = new Uint8Array();

const handleDecoderMessage = async ({ header, bytes }: DecoderMessage): Promise<DecoderMessage> => {
  if (header.work === "verify") {
    await assertDecodable(bytes);
    return { header: {}, bytes: nothing };
  }
  if (header.work === "reencode")
    return { header: {}, bytes: await reencodeUpright(bytes, header.options as ReencodeOptions) };
  if (header.work === "pixels") {
    const [parts, count] = [splitParts({ header, bytes }), Number(header.imageCount)];
    const outputs = await performPixelTask(header.task as PixelTask, parts.slice(0, count), parts.slice(count));
    return joinParts(
      { boxes: outputs.map(({ box }) => box ?? null) },
      outputs.map((output) => output.bytes),
    );
  }
  if (header.work === "merge-masks") {
    const merged = await mergeMasks(splitParts({ header, bytes }), header.size as ImageSize, Number(header.margin));
    return { header: {}, bytes: merged };
  }
  if (header.work === "thumbnails") {
    const { sides, orientation, hasFingerprint } = header as { sides: number[] } & Record<string, unknown>;
    const options = { sides, orientation: Number(orientation), hasFingerprint: hasFingerprint === true };
    const { files, thumbhash, fingerprint } = await makeThumbnails(bytes, options);
    return joinParts({ thumbhash, ...(fingerprint && { fingerprint }) }, files);
  }
  if (header.work === "fingerprints") {
    const options = { orientation: Number(header.orientation), lost: header.lost as LostMargins[] };
    return { header: { fingerprints: await fingerprintImage(bytes, options) }, bytes: nothing };
  }
  if (header.work === "transparency-mask") {
    const marked = await maskFromTransparency(bytes, Number(header.orientation));
    return { header: { isEmpty: marked === undefined }, bytes: marked ?? nothing };
  }
  const mask = await normalizeMask(bytes, header.size as ImageSize | undefined);
  return mask === bytes ? { header: { isUnchanged: true }, bytes: nothing } : { header: {}, bytes: mask };
};

const reply = (frame: DecoderMessage) => {
  for (const part of encodeDecoderMessage(frame)) process.stdout.write(part);
};

reply({ header: { sandbox: readSandboxStatus() }, bytes: nothing });
for await (const frame of readDecoderMessages(process.stdin, MAX_MESSAGE_BYTES)) {
  reply(
    await handleDecoderMessage(frame).catch((thrown) => ({
      header: { error: String(thrown.cause ?? thrown) },
      bytes: nothing,
    })),
  );
}
