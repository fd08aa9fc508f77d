// The command, run as a separate process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

test.each(["SIGTERM", "SIGINT"] as const)(
  "the command prints where it listens and stops cleanly on %s",
  async (signal) => {
    const dataDir = mkdtempSync(join(tmpdir(), "sandbox-main-"));
    const main = join(import.meta.dirname, "main.ts");
    const child = spawn(process.execPath, [main, "--port", "0", "--data", dataDir, "--key", "k"]);
    onTestFinished(() => {
      child.kill("SIGKILL");
      rmSync(dataDir, { recursive: true });
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const [, url] = /^sandbox listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line.toString()) ?? [];
    expect((await fetch(`${url}/v1/health`)).status).toBe(200);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
  },
);

test("result URLs begin with the URL that --url names, while the command listens on every address", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sandbox-main-"));
  const main = join(import.meta.dirname, "main.ts");
  const port = await findFreePort();
  const listen = ["--port", String(port), "--host", "0.0.0.0", "--url", "http://sandbox.example:7790/"];
  const child = spawn(process.execPath, [main, ...listen, "--data", dataDir, "--key", "k"]);
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(dataDir, { recursive: true });
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  expect(line.toString()).toBe("sandbox listening on http://sandbox.example:7790\n");
  const headers = { authorization: "Bearer k", "content-type": "application/json" };
  const body = JSON.stringify({ model: "replay/one", task: "image.generate", prompt: "a hill", width: 64, height: 64 });
  const created = await fetch(`http://127.0.0.1:${port}/v1/jobs`, { method: "POST", headers, body });
  const { id } = (await created.json()) as { id: string };
  await vi.waitFor(async () => {
    const job = await (await fetch(`http://127.0.0.1:${port}/v1/jobs/${id}`, { headers })).json();
    expect(job).toMatchObject({
      outputs: [{ url: expect.stringMatching(/^http:\/\/sandbox\.example:7790\/v1\/files\//) }],
    });
  });
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
