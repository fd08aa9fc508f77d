// Fetched sources are shared and bounded until they are stored.
import { describe, expect, it } from "vitest";
import { createByteBudget } from "../outputs/byte-budget.ts";
import { createSourceBuffer } from "./source-buffer.ts";

const never = new AbortController().signal;
const bytesOf = (length: number) => async () => new Uint8Array(length);
/** Everything that can go on has gone on: nothing here waits for more than promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("the source buffer", () => {
  it("fetches a source once while one of its users holds it, and again afterwards", async () => {
    const buffer = createSourceBuffer(createByteBudget(100), 10);
    let fetches = 0;
    const hold = () => buffer.hold("a", async () => new Uint8Array(++fetches), never);
    const [first, second] = await Promise.all([hold(), hold()]);
    first.release();
    const third = await hold();
    expect([fetches, third.bytes]).toEqual([1, second.bytes]);
    second.release();
    third.release();
    (await hold()).release();
    expect(fetches).toBe(2);
  });

  it("does not fetch before there is space for the largest source, and keeps only what a source needs", async () => {
    const buffer = createSourceBuffer(createByteBudget(20), 10);
    const fetched: string[] = [];
    const hold = (id: string, length: number) =>
      buffer.hold(
        id,
        async () => {
          fetched.push(id);
          return new Uint8Array(length);
        },
        never,
      );
    const first = await hold("a", 4);
    const second = await hold("b", 6);
    await hold("c", 10);
    const fourth = hold("d", 1);
    await settled();
    expect(fetched).toEqual(["a", "b", "c"]);
    first.release();
    await settled();
    expect(fetched).toEqual(["a", "b", "c"]);
    second.release();
    await fourth;
    expect(fetched).toEqual(["a", "b", "c", "d"]);
  });

  it("frees the space of a fetch that fails", async () => {
    const buffer = createSourceBuffer(createByteBudget(10), 10);
    await expect(buffer.hold("a", () => Promise.reject(new Error("no")), never)).rejects.toThrow("no");
    expect((await buffer.hold("b", bytesOf(10), never)).bytes).toHaveLength(10);
  });

  it("stops waiting for space when the step must stop", async () => {
    const buffer = createSourceBuffer(createByteBudget(10), 10);
    await buffer.hold("a", bytesOf(10), never);
    const control = new AbortController();
    const waiting = buffer.hold("b", bytesOf(1), control.signal);
    control.abort(new Error("claim lost"));
    await expect(waiting).rejects.toThrow("claim lost");
  });
});
