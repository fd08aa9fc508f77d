import { expect, test } from "vitest";
import { createEngineNodes } from "./engine-nodes.ts";

const NODES = "http://one:9070, http://two:9070/,http://three:9070";

function createNodes(failing: Record<string, number | "refused">) {
  const asked: string[] = [];
  const ask = createEngineNodes(NODES);
  const send = async (url: string) => {
    const host = new URL(url).hostname;
    asked.push(host);
    const failure = failing[host];
    if (failure === "refused") throw new Error("connection refused");
    return { status: failure ?? 200, text: host };
  };
  return { asked, ask: () => ask(send) };
}

test("A node that does not respond is skipped, and the next requests do not wait for it", async () => {
  const { asked, ask } = createNodes({ one: "refused", two: 503 });
  expect((await ask()).text).toBe("three");
  expect((await ask()).text).toBe("three");
  expect(asked).toEqual(["one", "two", "three", "three"]);
});

test("A response that the request itself causes is not asked for again", async () => {
  const { asked, ask } = createNodes({ one: 404 });
  expect((await ask()).status).toBe(404);
  expect(asked).toEqual(["one"]);
});

test("Without any node the dependency is unavailable, and a node that comes back is found again", async () => {
  const failing: Record<string, number | "refused"> = { one: "refused", two: "refused", three: 500 };
  const { ask } = createNodes(failing);
  await expect(ask()).rejects.toMatchObject({ code: "dependency_unavailable" });
  delete failing.two;
  expect((await ask()).text).toBe("two");
});
