import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../../bin/gesso.js", import.meta.url));
const LINK = "http://127.0.0.1:7788/console#in=code";
let url = "";
const server = createServer((request, response) => {
  const isAllowed = request.url === "/console/codes" && request.headers.authorization === "Bearer gsk_right";
  response.writeHead(isAllowed ? 201 : 401, { "content-type": "application/json" });
  response.end(JSON.stringify(isAllowed ? { url: LINK } : { code: "invalid_api_key" }));
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

async function runConsole(key: string) {
  const child = spawn(process.execPath, [BIN, "console", "--url", url], {
    env: { ...process.env, GESSO_API_KEY: key },
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code, stdout, stderr };
}

it("prints only the link, without the key", async () => {
  expect(await runConsole("gsk_right")).toEqual({ code: 0, stdout: `${LINK}\n`, stderr: "" });
});

it("fails with a sentence if the server gives no link", async () => {
  const { code, stdout, stderr } = await runConsole("gsk_wrong");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("gave no link");
});
