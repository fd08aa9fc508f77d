import { expect, it, vi } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import { Fault } from "../../faults/faults.ts";
import { type StreamedRun, writeImageEvents } from "./image-events.ts";

const row = { run_id: "r-1" } as RunRow;
async function* oneImage() {
  yield Buffer.from("event: image_generation.completed\n\n");
}
const read = async (run: Partial<StreamedRun>, clock = createManualClock()) => {
  const onEnd = vi.fn();
  const pieces: string[] = [];
  const stream = { waitForEnd: async () => row, writeImages: oneImage, onEnd, clock, ...run };
  for await (const piece of writeImageEvents(stream)) pieces.push(Buffer.from(piece).toString());
  expect(onEnd).toHaveBeenCalledTimes(1);
  expect(clock.timers()).toEqual([]);
  return pieces;
};

it("a stream says that it lives until the image is there", async () => {
  const ending = Promise.withResolvers<RunRow>();
  const clock = createManualClock();
  const reading = read({ waitForEnd: () => ending.promise }, clock);
  await clock.waitForTimer(15_000);
  await clock.advance(2 * 15_000);
  ending.resolve(row);
  const [accepted, ...pieces] = await reading;
  expect(accepted).toBe(": accepted\n\n");
  expect(pieces.slice(0, -1)).toEqual([": keep-alive\n\n", ": keep-alive\n\n"]);
  expect(pieces.at(-1)).toContain("completed");
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
  const clock = createManualClock();
  const events = writeImageEvents({ waitForEnd: () => new Promise(() => {}), writeImages: oneImage, onEnd, clock });
  await events.next();
  await events.return(undefined);
  expect(onEnd).toHaveBeenCalledTimes(1);
});
