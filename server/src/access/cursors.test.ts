import { describe, expect, it } from "vitest";
import { createCursorSigner, cursorScope } from "./cursors.ts";

const secret = new Uint8Array(32).fill(7);
const id = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

describe("a cursor", () => {
  it("is read by the server that created it, for the same list", () => {
    const signer = createCursorSigner([secret], { now: () => 1_000_000 });
    expect(signer.verify("mine", signer.sign("mine", id))).toBe(id);
  });

  it("is refused for another list, with another secret, and after a day", () => {
    let now = 1_000_000;
    const signer = createCursorSigner([secret], { now: () => now });
    const cursor = signer.sign("mine", id);
    expect(() => signer.verify("theirs", cursor)).toThrow(expect.objectContaining({ code: "invalid_cursor" }));
    const other = createCursorSigner([new Uint8Array(32).fill(8)], { now: () => now });
    expect(() => other.verify("mine", cursor)).toThrow(expect.objectContaining({ code: "invalid_cursor" }));
    now += 24 * 60 * 60 * 1000 + 1;
    expect(() => signer.verify("mine", cursor)).toThrow(expect.objectContaining({ code: "invalid_cursor" }));
  });

  it("is refused if any one character is changed", () => {
    const signer = createCursorSigner([secret], { now: () => 1_000_000 });
    const cursor = signer.sign("mine", id);
    for (let at = 0; at < cursor.length; at++) {
      const changed = cursor.slice(0, at) + (cursor[at] === "A" ? "B" : "A") + cursor.slice(at + 1);
      expect(() => signer.verify("mine", changed)).toThrow(expect.objectContaining({ code: "invalid_cursor" }));
    }
    expect(() => signer.verify("mine", "")).toThrow();
    expect(() => signer.verify("mine", "////")).toThrow();
  });
});

describe("the secret of cursors", () => {
  it("can be rotated: the first signs, and all are accepted", () => {
    const clock = { now: () => 1_000_000 };
    const other = new Uint8Array(32).fill(8);
    const before = createCursorSigner([secret], clock);
    const after = createCursorSigner([other, secret], clock);
    expect(after.verify("mine", before.sign("mine", id))).toBe(id);
    expect(() => before.verify("mine", after.sign("mine", id))).toThrow();
    expect(createCursorSigner([other], clock).verify("mine", after.sign("mine", id))).toBe(id);
  });
});

it("a cursor is valid for exactly a day, and is not a signature of other bytes", () => {
  let now = 1_000_000;
  const signer = createCursorSigner([secret], { now: () => now });
  const cursor = signer.sign("mine", id);
  now += 24 * 60 * 60 * 1000;
  expect(signer.verify("mine", cursor)).toBe(id);
  expect(() => signer.verify("mine", `${cursor}=`)).toThrow(expect.objectContaining({ code: "invalid_cursor" }));
  const [lastId, time, signature] = Buffer.from(cursor, "base64url").toString().split(".");
  expect(signature).toMatch(/^[\w-]{22}$/);
  expect([lastId, time]).toEqual([id, (1_000_000).toString(36)]);
});

it("the scope of a cursor tells lists, tenants and filters apart", () => {
  const scopes = [["runs", "a"], ["runs", "b"], ["runs", "a", {}], [["runs", "a"]], ["runs,a"], []].map((parts) =>
    cursorScope(...parts),
  );
  expect(new Set(scopes).size).toBe(scopes.length);
  expect(scopes[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(cursorScope("runs", "a")).toBe(scopes[0]);
});
