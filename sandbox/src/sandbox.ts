// Starts and stops the sandbox on a socket; all its state is in its data directory.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createApp } from "./app.ts";
import { createCallbackSender } from "./callbacks.ts";
import { createFaultInjector } from "./fault-injection.ts";
import { createInputFiles } from "./inputs.ts";
import { openJobStore } from "./job-store.ts";
import { createOutputCache } from "./output-cache.ts";
import { createJobRunner } from "./runner.ts";
import { DEFAULT_SIDE } from "./size.ts";
import { createEncoder } from "./video/encoder.ts";

export type SandboxOptions = {
  port: number;
  dataDir: string;
  key: string;
  host?: string;
  /** Where callers reach the sandbox, if that is not its host and port: result URLs begin with it. */
  publicUrl?: string;
  ffmpeg?: string;
  /** Of a square image whose size is not requested, in pixels. Default: 1024. */
  side?: number;
};
export type Sandbox = { url: string; close(): Promise<void> };

/** Longer than callers keep idle connections, so that the sandbox never closes one that is about to be used. */
const keepAliveMilliseconds = 75_000;

const listen = async (server: Server, port: number, host: string): Promise<string> => {
  server.keepAliveTimeout = keepAliveMilliseconds;
  server.listen(port, host);
  await once(server, "listening");
  return `http://${host}:${(server.address() as AddressInfo).port}`;
};

export const startSandbox = async (options: SandboxOptions): Promise<Sandbox> => {
  const { port, dataDir, key, host = "127.0.0.1", publicUrl, ffmpeg = "ffmpeg", side = DEFAULT_SIDE } = options;
  const jobStore = openJobStore(dataDir);
  const server = createServer();
  // The URL is part of every response, so it must be known before the services are created.
  const listenUrl = await listen(server, port, host);
  const url = publicUrl?.replace(/\/+$/, "") ?? listenUrl;
  const closing = new AbortController();
  const callbacks = createCallbackSender(key);
  const inputs = createInputFiles(dataDir, closing.signal);
  const runner = createJobRunner({ jobStore, callbacks, inputs, url, encoder: createEncoder(ffmpeg) });
  const gallery = createOutputCache(inputs);
  const app = createApp({
    jobs: jobStore,
    outputs: gallery,
    faults: createFaultInjector(),
    inputs,
    runner,
    url,
    key,
    side,
    closing: closing.signal,
  });
  server.on("request", getRequestListener(app.fetch));
  runner.resume();
  return {
    url,
    close: async () => {
      closing.abort();
      await runner.close();
      callbacks.close();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      jobStore.close();
    },
  };
};
