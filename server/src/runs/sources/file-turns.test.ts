import { expect, it } from "vitest";
import { createFileTurns } from "./file-turns.ts";

/** Everything that can go on has gone on: nothing here waits for more than promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Starts work that goes on until `end` is called, and notes its beginning. */
function startWork(maxBytes: number) {
  const turns = createFileTurns(maxBytes);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string, tenantId: string, bytes: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(name, resolve);
    return turns.take(tenantId, bytes, async () => {
      begun.push(name);
      await promise;
      return name;
    });
  };
  const end = async (name: string) => {
    ends.get(name)!();
    await settled();
  };
  return { turns, start, end, begun };
}

it("Files that fit into memory together begin at once, and others when there is space again", async () => {
  const { start, end, begun } = startWork(10);
  for (const name of ["a1", "a2", "a3"]) void start(name, "a", 5);
  await settled();
  expect(begun).toEqual(["a1", "a2"]);
  await end("a2");
  expect(begun).toEqual(["a1", "a2", "a3"]);
});

it("A tenant with one file waits for one file of a tenant that sent many, not for all of them", async () => {
  const { start, end, begun } = startWork(10);
  for (const name of ["a1", "a2", "a3", "a4"]) void start(name, "a", 10);
  void start("b1", "b", 10);
  await settled();
  for (const name of ["a1", "a2", "b1", "a3"]) await end(name);
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});

it("A large file is not overtaken by small ones, and has its turn although it exceeds the limit", async () => {
  const { start, end, begun } = startWork(10);
  void start("small", "a", 5);
  void start("large", "b", 50);
  void start("later", "c", 5);
  await settled();
  expect(begun).toEqual(["small"]);
  await end("small");
  expect(begun).toEqual(["small", "large"]);
  await end("large");
  expect(begun).toEqual(["small", "large", "later"]);
});

it("Work that fails gives its bytes back, and its failure reaches the caller", async () => {
  const turns = createFileTurns(10);
  const failing = turns.take("a", 10, () => Promise.reject(new Error("unreadable")));
  const next = turns.take("a", 10, async () => "next");
  await expect(failing).rejects.toThrow("unreadable");
  expect(await next).toBe("next");
});
