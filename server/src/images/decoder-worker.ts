// The program of a process that decodes: tells what walls it sees around itself, then does one piece of work after the
// other until its parent is gone.
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import sharp from "sharp";
import { assertDecodable, type ReencodeOptions, reencodeUpright } from "./decode.ts";
import { type DecoderMessage, encodeDecoderMessage, readDecoderMessages } from "./decoder-protocol.ts";
import type { DecoderSandboxStatus } from "./decoder-sandbox.ts";
import { normalizeMask } from "./normalize-mask.ts";

const mostBytes = 512 * 1024 * 1024;
const nothing = new Uint8Array();

/** As seen from inside: what was asked for may not have been granted. */
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

const handleDecoderMessage = async ({ says, bytes }: DecoderMessage): Promise<DecoderMessage> => {
  if (says.work === "prove") {
    await assertDecodable(bytes);
    return { says: {}, bytes: nothing };
  }
  if (says.work === "redraw") return { says: {}, bytes: await reencodeUpright(bytes, says.how as ReencodeOptions) };
  const mask = await normalizeMask(bytes);
  return mask === bytes ? { says: { isSame: true }, bytes: nothing } : { says: {}, bytes: mask };
};

const answer = (frame: DecoderMessage) => {
  for (const part of encodeDecoderMessage(frame)) process.stdout.write(part);
};

answer({ says: { walls: readSandboxStatus() }, bytes: nothing });
for await (const frame of readDecoderMessages(process.stdin, mostBytes)) {
  answer(
    await handleDecoderMessage(frame).catch((thrown) => ({
      says: { damaged: String(thrown.cause ?? thrown) },
      bytes: nothing,
    })),
  );
}
