// Runs `gesso dev` as a person does whose shell exports keys of providers for other programs.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { fakeFal } from "../../../server/test/fake-vendors/fal.ts";
import { fakeOpenai } from "../../../server/test/fake-vendors/openai.ts";
import { copyMigratedData } from "../../../server/test/support/shared-postgres.ts";

const BIN = fileURLToPath(new URL("../../bin/gesso.js", import.meta.url));

type Ready = {
  url: string;
  api_key: string;
  providers: { id: string; ready: boolean; offers: { model: string; price: number | null }[] }[];
  limits: { spend_per_month: number | null };
  unused_keys: string[];
};

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "gesso-dev-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder whose database is there already. The first test sees that `gesso dev` makes one in an empty folder. */
async function folderWithDatabase(): Promise<string> {
  const folder = scratch();
  await copyMigratedData(join(folder, ".gesso", "postgres"));
  return folder;
}

async function startDev(cwd: string, flags: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [BIN, "dev", "--json", ...flags], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  onTestFinished(() => stop(child));
  // "close" comes after all output, "exit" may come before it.
  const [line] = await Promise.race([once(child.stdout, "data"), once(child, "close")]);
  if (typeof line === "number") throw new Error(`exit ${line}: ${stderr}`);
  return JSON.parse(String(line)) as Ready;
}

async function runGesso(cwd: string, parameters: string[], env: Record<string, string>, input = "") {
  const child = spawn(process.execPath, [BIN, ...parameters], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
  });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stdout, stderr };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGINT");
  await once(child, "exit");
}

async function generate({ url, api_key }: Ready, model_type: string) {
  const response = await fetch(`${url}/api/v1/runs/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: "a lighthouse", model_type, sync: true, width: 1024, height: 1024 }),
  });
  return (await response.json()) as { code?: string; provider?: string; details?: object; status?: string };
}

it("gesso dev sends nothing to a provider whose key the shell exports, and says that the key is not used", async () => {
  const requests: string[] = [];
  const listener = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(401).end("{}");
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void listener.close());
  const OPENAI_BASE_URL = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/v1`;

  const ready = await startDev(scratch(), [], { OPENAI_API_KEY: "sk-of-the-shell", OPENAI_BASE_URL });
  // OpenAI is the first choice for this model.
  expect(await generate(ready, "vendora")).toMatchObject({ status: "completed", provider: "sandbox" });
  expect(requests).toEqual([]);
  expect(ready.providers.map(({ id, ready: isReady }) => [id, isReady])).toEqual([
    ["sandbox", true],
    ["local", true],
  ]);
  expect(ready.unused_keys).toEqual(["OPENAI_API_KEY"]);
  expect(ready.limits.spend_per_month).toBe(5);
});

it("gesso dev uses a provider that is named, shows its prices, and refuses the run that exceeds the spending cap", async () => {
  const vendor = await fakeOpenai.start();
  onTestFinished(() => vendor.close());
  const folder = await folderWithDatabase();
  writeFileSync(
    join(folder, "gesso.yaml"),
    "models:\n  vendora: [{ provider: openai, offer: gpt-image-2.5-flare, price: 0.04 }]\n",
  );
  const env = fakeOpenai.env(vendor);
  const ready = await startDev(folder, ["--providers", "openai", "--spend-limit", "0.1"], env);
  const offers = ready.providers.find(({ id }) => id === "openai")?.offers ?? [];
  expect(offers.filter(({ model }) => model === "vendora").map(({ price }) => price)).toContain(0.04);
  expect(ready.limits.spend_per_month).toBe(0.1);

  const paid = { status: "completed", provider: "openai" };
  expect([await generate(ready, "vendora"), await generate(ready, "vendora")]).toMatchObject([paid, paid]);
  expect(await generate(ready, "vendora")).toMatchObject({ code: "spend_limit_reached" });
  expect(vendor.ledger).toHaveLength(2);
});

it("gesso dev refuses to start with a provider that has no key, and says how to connect it", async () => {
  const start = startDev(scratch(), ["--providers", "fal"], {});
  await expect(start).rejects.toThrow(
    "exit 2: gesso dev: fal needs FAL_KEY. Run gesso providers connect fal, or set it in this shell.",
  );
});

it("gesso providers connect checks a key, and a running gesso dev uses it without a restart, until it is disconnected", async () => {
  const vendor = await fakeFal.start();
  onTestFinished(() => vendor.close());
  const { FAL_KEY: key = "", ...addresses } = fakeFal.env(vendor);
  const folder = await folderWithDatabase();
  const ready = await startDev(folder, [], addresses);

  const refused = await runGesso(folder, ["providers", "connect", "fal"], addresses, "wrong:key\n");
  expect([refused.code, refused.stdout]).toEqual([3, ""]);
  expect(refused.stderr).toContain("fal refused the key (HTTP 401). Nothing was saved.");
  expect(await generate(ready, "nanobanana")).toMatchObject({ provider: "sandbox" });

  const connected = await runGesso(folder, ["providers", "connect", "fal"], addresses, `${key}\n`);
  expect([connected.code, connected.stdout]).toEqual([0, ""]);
  expect(connected.stderr).toMatch(/nanobanana +image\.generate +\$0\.04 per image/);
  expect(connected.stderr).toContain("gesso dev uses it now.");
  expect(await generate(ready, "nanobanana")).toMatchObject({ status: "completed", provider: "fal" });
  const list = JSON.parse((await runGesso(folder, ["providers"], {})).stdout) as { id: string; state: string }[];
  expect(list.find(({ id }) => id === "fal")).toMatchObject({ state: "in_use" });

  // The key is where its owner alone can read it, and in no output.
  const data = join(folder, ".gesso");
  expect(statSync(join(data, "providers.json")).mode & 0o777).toBe(0o600);
  const logs = readdirSync(data, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".log"));
  expect(logs).not.toEqual([]);
  for (const path of logs) expect(readFileSync(join(data, path), "utf8")).not.toContain(key);
  expect(connected.stderr).not.toContain(key);

  const disconnected = await runGesso(folder, ["providers", "disconnect", "fal"], {});
  expect(disconnected.code).toBe(0);
  expect(disconnected.stderr).toContain("gesso dev no longer uses fal. No key of fal is saved in ./.gesso.");
  expect(readFileSync(join(data, "providers.json"), "utf8")).not.toContain(key);
  expect(await generate(ready, "nanobanana")).toMatchObject({ provider: "sandbox" });
});

it("gesso providers connect --production prints where the key goes, without the key, and saves nothing", async () => {
  const vendor = await fakeFal.start();
  onTestFinished(() => vendor.close());
  const { FAL_KEY: key = "", ...addresses } = fakeFal.env(vendor);
  const folder = scratch();
  const { code, stderr } = await runGesso(folder, ["providers", "connect", "fal", "--production"], addresses, key);
  expect(code).toBe(0);
  for (const line of ["environment: { FAL_KEY_FILE: /run/secrets/fal_key }", "RESTATE_IDENTITY_KEYS, FAL_KEY]"])
    expect(stderr).toContain(line);
  expect(stderr).not.toContain(key);
  expect(readdirSync(folder)).toEqual([]);
  expect(await runGesso(folder, ["providers", "connect", "fall"], {})).toMatchObject({ code: 2 });
});
