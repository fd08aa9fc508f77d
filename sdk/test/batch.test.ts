// Batches against a running Gesso: order, bound, progress, errors of single inputs, and a start again after SIGKILL.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, expectTypeOf, it } from "vitest";
import { readSandboxLedger } from "../../server/test/support/api-caller.ts";
import { type Installation, openSharedInstallation } from "../../server/test/support/shared-installation.ts";
import {
  AbortedError,
  type BatchResult,
  batch,
  type Client,
  connect,
  createClient,
  type ImageRun,
  imagesOf,
  RunFailedError,
  ValidationError,
  type VideoRun,
  type WaitOptions,
} from "../src/index.ts";
import { startProxy } from "./local-server.ts";

const SMALL = { width: 64, height: 64 };
const named = (names: string[], directive = "") => names.map((name) => ({ prompt: `${name} ${directive}`, ...SMALL }));

let environment: Installation;
let client: Client;
beforeAll(async () => {
  environment = await openSharedInstallation();
  client = createClient({ baseUrl: environment.url, apiKey: environment.key, logLevel: "off" });
});
afterAll(() => environment?.stop());

const runsWith = (text: string): Promise<{ run_id: string; status: string }[]> =>
  environment.query("select run_id, status from runs where tenant_id = $1 and inputs->>'prompt' like $2", [
    ...[environment.tenantId, `%${text}%`],
  ]) as Promise<{ run_id: string; status: string }[]>;
const jobsWith = async (text: string) =>
  (await readSandboxLedger(environment)).filter(({ request }) => request.prompt?.includes(text));

it("returns results in the order of the inputs, with an error in the place of a failure, and bounds the open runs", async () => {
  const inputs = [
    ...named(["slow order"], "[sandbox:delay=2]"),
    ...named(["refused order"], "[sandbox:refuse]"),
    { prompt: "invalid order", width: 9000 },
    ...named(["a order", "b order", "c order", "d order"], "[sandbox:delay=0.5]"),
  ];
  const open = new Set<string>();
  let most = 0;
  const operation = (input: (typeof inputs)[number], options: { idempotencyKey: string }) => {
    const call = client.images.generate(input, options);
    open.add(input.prompt);
    most = Math.max(most, open.size);
    const { wait } = call;
    return Object.assign(call, {
      wait: (own?: WaitOptions) => wait(own).finally(() => open.delete(input.prompt)),
    });
  };
  const seen: string[] = [];
  const results = await batch(inputs, {
    operation,
    concurrency: 3,
    onProgress: ({ completed, failed, total, result }) => {
      seen.push(`${completed}+${failed}/${total} ${result.index}`);
    },
  });
  expect(most).toBe(3);
  expect(results.map(({ index, run }) => [index, run?.inputs?.prompt])).toEqual(
    inputs.map(({ prompt }, index) => [index, /refused|invalid/.test(prompt) ? undefined : prompt]),
  );
  expect([RunFailedError.isInstance(results[1]!.error), ValidationError.isInstance(results[2]!.error)]).toEqual([
    true,
    true,
  ]);
  expect(seen).toHaveLength(7);
  expect(seen.at(-1)).toMatch(/^5\+2\/7 /);
  expect(seen[0]).toBe("0+1/7 2");
});

const startBatch = (name: string, keyPrefix: string): ChildProcess => {
  const program = `
    const { createClient } = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)});
    const client = createClient({ baseUrl: ${JSON.stringify(environment.url)}, apiKey: ${JSON.stringify(environment.key)} });
    const inputs = ${JSON.stringify(named(Array.from({ length: 8 }, (_, index) => `${name} ${index}`)))};
    const results = await client.batch(inputs, {
      keyPrefix: ${JSON.stringify(keyPrefix)},
      concurrency: 2,
      onProgress: ({ completed }) => console.log(completed),
    });
    console.log(JSON.stringify(results.map(({ run }) => run?.run_id)));`;
  return spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
};

it("creates and pays each run once when its process is killed and the batch is started again", async () => {
  const first = startBatch("killed batch", "killed-1");
  const killedAfter = await new Promise<string>((resolve) => {
    first.stdout!.on("data", (chunk) => {
      if (!String(chunk).includes("3")) return;
      first.kill("SIGKILL");
      resolve(String(chunk));
    });
  });
  await once(first, "exit");
  expect(killedAfter).not.toContain("[");
  const before = await runsWith("killed batch");
  expect(before.length).toBeGreaterThanOrEqual(3);
  expect(before.length).toBeLessThan(8);

  const second = startBatch("killed batch", "killed-1");
  let output = "";
  second.stdout!.on("data", (chunk) => {
    output += chunk;
  });
  await once(second, "exit");
  const ids = JSON.parse(output.trim().split("\n").at(-1)!) as string[];
  const after = await runsWith("killed batch");
  expect(new Set(ids)).toEqual(new Set(after.map(({ run_id }) => run_id)));
  expect(ids).toEqual(expect.arrayContaining(before.map(({ run_id }) => run_id)));
  expect([after.length, (await jobsWith("killed batch")).length]).toEqual([8, 8]);
});

it("follows a failed run with a new one only where its failure is temporary, and finds it when started again", async () => {
  const inputs = [...named(["broken again"], "[sandbox:fail]"), ...named(["refused again"], "[sandbox:refuse]")];
  const options = { keyPrefix: "again-1", retryFailed: 2 };
  const results = await client.batch(inputs, options);
  expect(results.map(({ error }) => RunFailedError.isInstance(error))).toEqual([true, true]);
  expect([(await runsWith("broken again")).length, (await runsWith("refused again")).length]).toEqual([3, 1]);
  const ids = results.map(({ error }) => (error as RunFailedError).runId);
  const repeated = await client.batch(inputs, options);
  expect(repeated.map(({ error }) => (error as RunFailedError).runId)).toEqual(ids);
  expect((await runsWith("broken again")).length).toBe(3);
});

it("repeats a request whose response was lost with the same key", async () => {
  const lost = new Set<string>();
  const proxy = await startProxy(environment.url, ({ method, headers }) => {
    const key = String(headers["idempotency-key"]);
    return method === "POST" && !lost.has(key) && lost.add(key).size > 0;
  });
  const generate = imagesOf(connect({ baseUrl: proxy.url, apiKey: environment.key, maxRetries: 0 })).generate;
  const inputs = named(["lost batch one", "lost batch two", "lost batch three"]);
  const results = await batch(inputs, { operation: generate, retryFailed: 1 });
  expect(results.map(({ run }) => run?.status)).toEqual(["completed", "completed", "completed"]);
  expect(lost.size).toBe(3);
  expect([(await runsWith("lost batch")).length, (await jobsWith("lost batch")).length]).toEqual([3, 3]);
  await proxy.close();
});

it("creates no run after an abort, and open runs continue unless they are to be canceled", async () => {
  const inputs = named(["aborted a", "aborted b", "aborted c", "aborted d"], "[sandbox:delay=2]");
  const abortAfterFirstRun = async (text: string, options: { keyPrefix: string; cancelOnAbort?: boolean }) => {
    const stop = new AbortController();
    const results = client.batch(inputs, { ...options, concurrency: 2, signal: stop.signal });
    await expect.poll(async () => (await runsWith(text)).length, { timeout: 10_000 }).toBe(2);
    stop.abort();
    return results;
  };
  const results = await abortAfterFirstRun("aborted", { keyPrefix: "aborted-1" });
  expect(results.map(({ error }) => AbortedError.isInstance(error))).toEqual([true, true, true, true]);
  const open = await runsWith("aborted");
  expect(open).toHaveLength(2);
  const finished = await client.batch(inputs, { keyPrefix: "aborted-1", concurrency: 4 });
  expect(finished.map(({ run }) => run?.status)).toEqual(Array(4).fill("completed"));
  expect(finished.map(({ run }) => run?.run_id)).toEqual(expect.arrayContaining(open.map(({ run_id }) => run_id)));
  expect(await runsWith("aborted")).toHaveLength(4);
});

it("cancels open runs with cancelOnAbort", async () => {
  const inputs = named(["canceled a", "canceled b"], "[sandbox:delay=30]");
  const stop = new AbortController();
  const results = client.batch(inputs, { concurrency: 1, signal: stop.signal, cancelOnAbort: true });
  await expect.poll(async () => (await runsWith("canceled")).length, { timeout: 10_000 }).toBe(1);
  stop.abort();
  expect((await results).map(({ error }) => AbortedError.isInstance(error))).toEqual([true, true]);
  await expect
    .poll(async () => (await runsWith("canceled")).map(({ status }) => status), { timeout: 10_000 })
    .toEqual(["canceled"]);
});

it("ends with an error of onProgress, and creates no further run", async () => {
  const inputs = named(["stopped a", "stopped b", "stopped c"]);
  const onProgress = () => Promise.reject(new Error("the disk is full"));
  await expect(client.batch(inputs, { concurrency: 1, onProgress })).rejects.toThrow("the disk is full");
  expect(await runsWith("stopped")).toHaveLength(1);
  await expect(client.batch(inputs, { concurrency: 0 })).rejects.toThrow("concurrency must be at least 1");
  expect(await client.batch([])).toEqual([]);
});

it("has the types of its operation", () => {
  expectTypeOf(() => client.batch([{ prompt: "x" }])).returns.resolves.toEqualTypeOf<BatchResult<ImageRun>[]>();
  expectTypeOf(() =>
    client.batch([{ image_url: "https://a.example/a.png" }], { operation: client.generateVideo }),
  ).returns.resolves.toEqualTypeOf<BatchResult<VideoRun>[]>();
  // @ts-expect-error: a prompt is required
  void (() => client.batch([{ width: 64 }]));
  // @ts-expect-error: there is no such field
  void (() => client.batch([{ prompt: "x", widht: 64 }]));
  // @ts-expect-error: an operation of another kind
  void (() => client.batch([{ name: "x" }], { operation: client.keys.create }));
});
