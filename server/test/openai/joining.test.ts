// Clients that re-send paid requests without an idempotency key, behind a proxy that resets their connections. Each
// request is one run and one job of the provider, however often the client sent it.
import { createOpenAI } from "@ai-sdk/openai";
import { generateImage } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createHttpCaller, readSandboxLedger } from "../support/api-caller.ts";
import { runPython } from "../support/python.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const SIZE = "64x64";
const CREATES = Number(process.env.CREATES ?? 20);
const PARALLEL = 10;
/** Long enough for the run to be accepted before the connection is cut. */
const CUT_MS = 300;
const WAIT_SECONDS = 2;

let environment: TestEnvironment;
let proxy: TcpProxy;
let baseURL: string;
beforeAll(async () => {
  const env = { OPENAI_WAIT_SECONDS: String(WAIT_SECONDS) };
  environment = await startTestEnvironment({ roles: "split", env });
  proxy = await startTcpProxy(Number(new URL(environment.url).port));
  baseURL = `http://127.0.0.1:${proxy.port}/openai/v1`;
});
afterAll(async () => {
  await proxy?.close();
  await environment?.stop();
});
beforeEach(() => proxy.cutRequests(() => false, 0));

const clientOf = (options: object = {}) => new OpenAI({ baseURL, apiKey: environment.key, ...options });

/** Cuts the connection of the first so many requests for each name. Returns how many were cut. */
function cutFirst(times: number, name: RegExp, afterMs = CUT_MS): () => number {
  const seen = new Map<string, number>();
  proxy.cutRequests((data) => {
    const found = name.exec(data.toString("latin1"))?.[0];
    const count = found === undefined ? times : (seen.get(found) ?? 0);
    if (count >= times) return false;
    seen.set(found!, count + 1);
    return true;
  }, afterMs);
  return () => [...seen.values()].reduce((sum, count) => sum + count, 0);
}

const countRuns = async (name: string) => {
  const [row] = await environment.query<{ runs: number }>(
    "select count(*)::int as runs from runs where inputs ->> 'prompt' like $1",
    [`${name}%`],
  );
  return row!.runs;
};
const countJobs = async (name: string) =>
  (await readSandboxLedger(environment)).filter(({ request }) => String(request.prompt).startsWith(name)).length;
const counts = async (name: string) => ({ runs: await countRuns(name), jobs: await countJobs(name) });

describe("openai-node", () => {
  it("[OAI-6] gets the run of its first request after two resets", async () => {
    const cut = cutFirst(2, /twice/);
    const { data, response } = await clientOf({ maxRetries: 3 })
      .images.generate({ prompt: "twice [sandbox:delay=2]", size: SIZE })
      .withResponse();
    expect([data.data?.length, response.headers.get("idempotent-replayed"), cut()]).toEqual([1, "true", 2]);
    expect(await counts("twice")).toEqual({ runs: 1, jobs: 1 });
  });

  it("[OAI-5] gets one run behind a proxy that cuts each connection before the run has ended", async () => {
    const cut = cutFirst(Number.POSITIVE_INFINITY, /patient/, 1000);
    const { data } = await clientOf({ maxRetries: 8 }).images.generate({
      ...{ prompt: "patient [sandbox:delay=3]", size: SIZE },
    });
    expect(data).toHaveLength(1);
    expect(cut()).toBeGreaterThan(1);
    expect(await counts("patient")).toEqual({ runs: 1, jobs: 1 });
  });

  it("[OAI-5] joins the run again if it takes longer than a request may wait", async () => {
    const prompt = `long [sandbox:delay=${WAIT_SECONDS + 2}]`;
    const { response } = await clientOf({ maxRetries: 2 }).images.generate({ prompt, size: SIZE }).withResponse();
    expect([response.status, response.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(await counts("long")).toEqual({ runs: 1, jobs: 1 });
    const waited = await createHttpCaller(environment).send("POST", "/openai/v1/images/generations", {
      body: { prompt: `longer [sandbox:delay=${WAIT_SECONDS + 2}]`, size: SIZE },
    });
    expect([waited.status, waited.headers.get("x-should-retry")]).toEqual([504, "true"]);
    expect(waited.body.error).toMatchObject({ code: "sync_timeout", type: "server_error" });
  });

  it("[OAI-6] gets one run for a stream, for an edit with files, and with a key of its own", async () => {
    const client = clientOf({ maxRetries: 3 });
    cutFirst(1, /streamed|edited|keyed/);
    const lost = await client.images.generate({ prompt: "streamed [sandbox:delay=1]", size: SIZE, stream: true });
    const broken = await lost[Symbol.asyncIterator]()
      .next()
      .catch((thrown) => thrown);
    expect(broken).toBeInstanceOf(Error);
    const stream = await client.images.generate({ prompt: "streamed [sandbox:delay=1]", size: SIZE, stream: true });
    for await (const event of stream) expect(event.type).toBe("image_generation.completed");
    expect(await counts("streamed")).toEqual({ runs: 1, jobs: 1 });

    const image = new File([await pngOf(client)], "image.png", { type: "image/png" });
    await client.images.edit({ image, prompt: "edited [sandbox:delay=1]" });
    expect(await counts("edited")).toEqual({ runs: 1, jobs: 1 });

    const headers = { "idempotency-key": "mine" };
    const body = { prompt: "keyed [sandbox:delay=1]", size: SIZE } as const;
    await client.images.generate(body, { headers });
    const { response } = await client.images.generate(body, { headers }).withResponse();
    expect(response.headers.get("idempotent-replayed")).toBe("true");
    expect(await counts("keyed")).toEqual({ runs: 1, jobs: 1 });
  });

  it("[OAI-6] gets the run of its first request after the API process was killed", async () => {
    const client = clientOf({ maxRetries: 8 });
    const asked = client.images.generate({ prompt: "killed [sandbox:delay=2]", size: SIZE }).withResponse();
    await expect.poll(() => countJobs("killed")).toBe(1);
    await environment.killAndRestart("api");
    expect((await asked).response.headers.get("idempotent-replayed")).toBe("true");
    expect(await counts("killed")).toEqual({ runs: 1, jobs: 1 });
  });

  it("[OAI-6] gets two images for two equal requests that were both answered", async () => {
    const body = { prompt: "both [sandbox:delay=0]", size: SIZE } as const;
    for (let n = 0; n < 2; n++) {
      const { response } = await clientOf().images.generate(body).withResponse();
      expect(response.headers.get("idempotent-replayed")).toBeNull();
    }
    await Promise.all([clientOf().images.generate(body), clientOf().images.generate(body)]);
    expect(await counts("both")).toEqual({ runs: 4, jobs: 4 });
  });
});

const pngOf = async (client: OpenAI): Promise<Uint8Array<ArrayBuffer>> => {
  const { data } = await client.images.generate({ prompt: "a source [sandbox:delay=0]", size: SIZE });
  return new Uint8Array(Buffer.from(data![0]!.b64_json!, "base64"));
};

describe(`${CREATES} creates with the first connection reset`, () => {
  const promptOf = (client: string, index: number) => `${client}-${index}: a bicycle [sandbox:delay=1]`;

  /** All creates, some at a time. */
  const createAll = async (create: (index: number) => Promise<unknown>) => {
    const indexes = Array.from({ length: CREATES }, (_, index) => index).values();
    const work = async () => {
      for (const index of indexes) await create(index);
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  };

  const expectOneEach = async (client: string, cut: () => number) => {
    expect({ cut: cut(), ...(await counts(`${client}-`)) }).toEqual({ cut: CREATES, runs: CREATES, jobs: CREATES });
  };

  it("[OAI-6] are as many runs and jobs with openai-node", async () => {
    const cut = cutFirst(1, /node-\d+:/);
    const client = clientOf({ maxRetries: 3 });
    await createAll((index) => client.images.generate({ prompt: promptOf("node", index), size: SIZE }));
    await expectOneEach("node", cut);
  });

  it("[OAI-6] are as many runs and jobs with openai-python", async () => {
    const cut = cutFirst(1, /python-\d+:/);
    const program = `
import json, openai
from concurrent.futures import ThreadPoolExecutor
client = openai.OpenAI(max_retries=3)
create = lambda index: client.images.generate(prompt=f"python-{index}: a bicycle [sandbox:delay=1]", size="${SIZE}")
with ThreadPoolExecutor(${PARALLEL}) as pool:
    print(json.dumps(sum(len(made.data) for made in pool.map(create, range(${CREATES})))))`;
    const env = { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: environment.key };
    expect(await runPython(program, { env })).toBe(CREATES);
    await expectOneEach("python", cut);
  });

  it("[OAI-6] are as many runs and jobs with the AI SDK", async () => {
    const cut = cutFirst(1, /aisdk-\d+:/);
    const model = createOpenAI({ baseURL, apiKey: environment.key }).image("flux-dev");
    await createAll((index) => generateImage({ model, prompt: promptOf("aisdk", index), size: SIZE, maxRetries: 3 }));
    await expectOneEach("aisdk", cut);
  });
});

it("a request that says it is a retry gets no run of another end user, nor that of the key of its token", async () => {
  const tokenOf = async (end_user: string): Promise<string> =>
    (await createHttpCaller(environment).post("/tokens", { ...TOKEN_REQUEST, end_user })).body.access_token;
  const send = async (key: string, isRetry: boolean) => {
    const response = await fetch(`${environment.url}/openai/v1/images/generations`, {
      method: "POST",
      headers: {
        ...{ authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(isRetry && { "x-stainless-retry-count": "1" }),
      },
      body: JSON.stringify({ prompt: "a visitor's boat [sandbox:delay=0]", size: SIZE }),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    return response.headers.get("x-run-id");
  };
  const first = await send(await tokenOf("alice"), false);
  const others = [await send(await tokenOf("bob"), true), await send(environment.key, true)];
  expect(new Set([first, ...others]).size).toBe(3);
  expect(await send(await tokenOf("alice"), true)).toBe(first);
});
