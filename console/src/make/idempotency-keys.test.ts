import { expect, it } from "vitest";
import { createIdempotencyKeys } from "./idempotency-keys.ts";

function keysAt() {
  let time = 0;
  let count = 0;
  const keys = createIdempotencyKeys({ now: () => time, createKey: () => `key-${++count}` });
  return { keys, pass: (milliseconds: number) => (time += milliseconds) };
}

it("uses one key for three presses within 200 ms, even if the first was already accepted", () => {
  const { keys, pass } = keysAt();
  expect(keys.keyFor("form")).toBe("key-1");
  keys.settle("form");
  pass(100);
  expect(keys.keyFor("form")).toBe("key-1");
  pass(100);
  expect(keys.keyFor("form")).toBe("key-1");
});

it("keeps the key of a request whose outcome is unknown", () => {
  const { keys, pass } = keysAt();
  keys.keyFor("form");
  pass(3_600_000);
  expect(keys.keyFor("form")).toBe("key-1");
});

it("uses a new key for another form, and for the same form later", () => {
  const { keys, pass } = keysAt();
  keys.keyFor("form");
  keys.settle("form");
  expect(keys.keyFor("other")).toBe("key-2");
  pass(2001);
  expect(keys.keyFor("form")).toBe("key-3");
});
