import { expect, it, vi } from "vitest";
import type { RunRow } from "../../db/runs/runs.ts";
import { Fault } from "../../faults.ts";
import { type StreamedRun, writeImageEvents } from "./image-events.ts";

const row = { run_id: "r-1" } as RunRow;
async function* oneImage() {
  yield Buffer.from("event: image_generation.completed\n\n");
}
const read = async (run: Partial<StreamedRun>) => {
  const onEnd = vi.fn();
  const pieces: string[] = [];
  for await (const piece of writeImageEvents({ waitForEnd: async () => row, writeImages: oneImage, onEnd, ...run }))
    pieces.push(Buffer.from(piece).toString());
  expect(onEnd).toHaveBeenCalledTimes(1);
  return pieces;
};

it("a stream says that it lives until the image is there", async () => {
  const ending = Promise.withResolvers<RunRow>();
  setTimeout(() => ending.resolve(row), 60);
  const pieces = await read({ waitForEnd: () => ending.promise, keepAliveMs: 20 });
  expect(pieces[0]).toBe(": accepted\n\n");
  expect(pieces.at(-1)).toContain("completed");
  expect(pieces.slice(1, -1)).toContain(": keep-alive\n\n");
});

it("a failure is an event with the error", async () => {
  const waitForEnd = () => Promise.reject(new Fault("content_refused", { run_id: "r-1" }));
  const [, event] = await read({ waitForEnd });
  expect(event?.startsWith("event: error\ndata: ")).toBe(true);
  expect(JSON.parse(event!.split("data: ")[1]!)).toMatchObject({
    type: "error",
    error: { type: "image_generation_user_error", code: "moderation_blocked", param: null },
  });
});

it("a reader that goes away ends the stream", async () => {
  const onEnd = vi.fn();
  const events = writeImageEvents({ waitForEnd: () => new Promise(() => {}), writeImages: oneImage, onEnd });
  await events.next();
  await events.return(undefined);
  expect(onEnd).toHaveBeenCalledTimes(1);
});
