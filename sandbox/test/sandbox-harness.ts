// What tests of the sandbox share: a sandbox on a free port in its own folder, a caller, and a callback receiver.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { startSandbox } from "../src/sandbox.ts";

export const TEST_KEY = "test-key";

type JobOutput = {
  url: string;
  media_type: string;
  width: number;
  height: number;
  name?: string;
  score?: number;
  box?: { x: number; y: number; width: number; height: number };
  duration?: number;
  fps?: number;
};

export type JobBody = {
  id: string;
  status: string;
  progress: number;
  outputs: JobOutput[];
  data: Record<string, unknown> | null;
  error: { code: string; message: string } | null;
  created_at: string;
  finished_at: string | null;
};

type LedgerRow = {
  id: string;
  status: string;
  accepted_at: string;
  posts: number;
  delivered: number;
  callback_attempts: number;
  answer_lost: boolean;
  request: Record<string, unknown>;
};

/** Whatever a route answers; each test knows which part it asked for. */
type AnswerBody = Omit<JobBody, "data" | "error"> & { error: { code: string; message: string }; data: JobBody[] };

type Answer = { status: number; headers: Headers; body: AnswerBody };

export type SandboxHarness = {
  url(): string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  post(fields: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  waitUntilEnded(id: string): Promise<JobBody>;
  ledger(): Promise<LedgerRow[]>;
  restart(): Promise<void>;
};

type Look<T> = () => Promise<T | undefined | false> | T | undefined | false;

/** Only names the failure before the test runner ends the test. */
const HANGING_MS = 300_000;

export const waitUntil = async <T>(look: Look<T>): Promise<T> => {
  for (const start = Date.now(); Date.now() - start < HANGING_MS; ) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("condition not met in time");
};

export const startSandboxHarness = async (settings: { ffmpeg?: string } = {}): Promise<SandboxHarness> => {
  const dataDir = mkdtempSync(join(tmpdir(), "sandbox-"));
  let sandbox = await startSandbox({ port: 0, dataDir, key: TEST_KEY, ...settings });
  onTestFinished(async () => {
    await sandbox.close();
    rmSync(dataDir, { recursive: true });
  });
  const call: SandboxHarness["call"] = async (method, path, body, headers = {}) => {
    const answer = await fetch(sandbox.url + path, {
      method,
      headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as AnswerBody };
  };
  return {
    url: () => sandbox.url,
    call,
    post: (fields, headers) =>
      call("POST", "/v1/jobs", { model: "replay/one", task: "image.generate", prompt: "a hill", ...fields }, headers),
    waitUntilEnded: (id) =>
      waitUntil(async () => {
        const { body } = await call("GET", `/v1/jobs/${id}`);
        return !["queued", "running"].includes(body.status) && (body as unknown as JobBody);
      }),
    ledger: async () => (await call("GET", "/v1/ledger")).body.data as unknown as LedgerRow[],
    restart: async () => {
      await sandbox.close();
      sandbox = await startSandbox({ port: 0, dataDir, key: TEST_KEY, ...settings });
    },
  };
};

type ReceivedCallback = { at: number; headers: IncomingHttpHeaders; text: string; job: JobBody };

/** A server that hears callbacks and answers them with the given statuses in turn, then 204. */
export const startCallbackReceiver = async (statuses: number[] = []) => {
  const heard: ReceivedCallback[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    heard.push({ at: Date.now(), headers: request.headers, text, job: JSON.parse(text) });
    response.writeHead(statuses.shift() ?? 204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, heard };
};
