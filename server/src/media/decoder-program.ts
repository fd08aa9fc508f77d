// The program of a process that decodes: tells what walls it sees around itself, then does one piece of work after the
// other until its parent is gone.
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import sharp from "sharp";
import { proveDecodable, type Redraw, redraw } from "./decode.ts";
import type { Walls } from "./decoder-cell.ts";
import { type Frame, packFrame, readFrames } from "./decoder-frames.ts";
import { toMask } from "./mask.ts";

const mostBytes = 512 * 1024 * 1024;
const nothing = new Uint8Array();

/** As seen from inside: what was asked for may not have been granted. */
const walls = (): Walls => ({
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

const perform = async ({ says, bytes }: Frame): Promise<Frame> => {
  if (says.work === "prove") {
    await proveDecodable(bytes);
    return { says: {}, bytes: nothing };
  }
  if (says.work === "redraw") return { says: {}, bytes: await redraw(bytes, says.how as Redraw) };
  const mask = await toMask(bytes);
  return mask === bytes ? { says: { isSame: true }, bytes: nothing } : { says: {}, bytes: mask };
};

const answer = (frame: Frame) => {
  for (const part of packFrame(frame)) process.stdout.write(part);
};

answer({ says: { walls: walls() }, bytes: nothing });
for await (const frame of readFrames(process.stdin, mostBytes)) {
  answer(
    await perform(frame).catch((thrown) => ({ says: { damaged: String(thrown.cause ?? thrown) }, bytes: nothing })),
  );
}
