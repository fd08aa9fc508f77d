import { expect, test } from "vitest";
import { createDownloadTurns } from "./download-turns.ts";

const streamOf = (chunks: string[], onPull = () => {}) => {
  const left = [...chunks];
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        onPull();
        const next = left.shift();
        if (next === undefined) controller.close();
        else controller.enqueue(Buffer.from(next));
      },
    },
    { highWaterMark: 0 },
  );
};

test("a download has the same bytes, in the same order", async () => {
  const takeTurns = createDownloadTurns();
  const texts = await Promise.all(
    Array.from({ length: 50 }, (_, n) => new Response(takeTurns(streamOf([`${n}`, "b", "c"]))).text()),
  );
  expect(texts).toEqual(Array.from({ length: 50 }, (_, n) => `${n}bc`));
});

test("of 100 downloads, at most eight read a chunk in one turn of the event loop", async () => {
  const takeTurns = createDownloadTurns();
  let turn = 0;
  const pullsPerTurn = new Map<number, number>();
  const count = () => pullsPerTurn.set(turn, (pullsPerTurn.get(turn) ?? 0) + 1);
  let isRunning = true;
  const next = () => {
    turn++;
    if (isRunning) setImmediate(next);
  };
  next();
  await Promise.all(
    Array.from({ length: 100 }, () => new Response(takeTurns(streamOf(["a", "b", "c"], count))).text()),
  );
  isRunning = false;
  expect(Math.max(...pullsPerTurn.values())).toBeLessThanOrEqual(8);
});

test("a failing and a canceled download give their turn to the next", async () => {
  const takeTurns = createDownloadTurns(1);
  const failing = new ReadableStream<Uint8Array>(
    { pull: () => Promise.reject(new Error("gone")) },
    { highWaterMark: 0 },
  );
  await expect(new Response(takeTurns(failing)).text()).rejects.toThrow("gone");
  const reasons: unknown[] = [];
  const canceled = takeTurns(new ReadableStream<Uint8Array>({ cancel: (given) => void reasons.push(given) }));
  await canceled.cancel("left");
  expect(reasons).toEqual(["left"]);
  expect(await new Response(takeTurns(streamOf(["done"]))).text()).toBe("done");
});
