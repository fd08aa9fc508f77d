// The program of a decoder process: reports the restrictions in effect, then handles one message after the other until
// its input ends.
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import sharp from "sharp";
import { assertDecodable, type ReencodeOptions, reencodeUpright } from "./decode.ts";
import { type DecoderMessage, encodeDecoderMessage, readDecoderMessages } from "./decoder-protocol.ts";
import type { DecoderSandboxStatus } from "./decoder-sandbox.ts";
import { normalizeMask } from "./normalize-mask.ts";

const MAX_MESSAGE_BYTES = 512 * 1024 * 1024;
const nothing = new Uint8Array();

/** Read from inside the process, because the host may not have applied everything that was requested. */
const readSandboxStatus = (): DecoderSandboxStatus => ({
  hasNetwork: Object.keys(networkInterfaces()).length > 0,
  hasPrivileges: process.getuid?.() === 0 || status("CapEff") !== "0000000000000000",
  memoryBytes: dataLimit(),
  libraries: sharp.versions.vips ?? "",
});

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
};
const status = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(read("/proc/self/status"))?.[1];
const dataLimit = () => Number(/^Max data size\s+(\d+)/m.exec(read("/proc/self/limits"))?.[1] ?? 0) || null;

const handleDecoderMessage = async ({ header, bytes }: DecoderMessage): Promise<DecoderMessage> => {
  if (header.work === "verify") {
    await assertDecodable(bytes);
    return { header: {}, bytes: nothing };
  }
  if (header.work === "reencode")
    return { header: {}, bytes: await reencodeUpright(bytes, header.options as ReencodeOptions) };
  const mask = await normalizeMask(bytes);
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
