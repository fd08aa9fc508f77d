// The HTTP/2 server to which the engine sends the steps of runs and deliveries. It can refuse new requests while those
// in progress end, and accept new ones again.
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

export type WorkerEndpoint = {
  open(): Promise<void>;
  /** Refuses new connections and asks the engine to use others. Executions in progress go on. */
  refuse(): void;
  isOpen(): boolean;
  /** No execution is in progress, and none can begin. */
  hasEnded(): boolean;
  /** Runs that the engine executes on this worker now. Runs that wait for long are suspended and are on no worker. */
  countRuns(): number;
  /** Breaks off what is still in progress. */
  destroy(): Promise<void>;
};

const RUN_PATH = "/invoke/Run/";

/** `path`: of this build. Another version must not continue a journal of this one, nor this one that of another. */
export function createWorkerEndpoint(
  { host, port }: { host: string; port: number },
  path: string,
  handler: Handler,
): WorkerEndpoint {
  const sessions = new Set<{ close(): void; destroy(): void }>();
  let runs = 0;
  let listening: { close(): Promise<void> } | undefined;
  let closed = Promise.resolve();

  const respond: Handler = (request, response) => {
    if (!request.url.startsWith(`${path}/`)) {
      response.writeHead(404).end();
      return;
    }
    if (request.url.startsWith(`${path}${RUN_PATH}`)) {
      runs++;
      request.stream.once("close", () => runs--);
    }
    handler(request, response);
  };

  const listen = async () => {
    const server = createServer(respond);
    server.on("session", (session) => {
      sessions.add(session);
      session.on("close", () => sessions.delete(session));
    });
    // Several workers on one machine may share the port; the kernel spreads the engine's connections over them.
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, reusePort: process.platform === "linux" }, resolve);
    });
    return { close: () => new Promise<void>((resolve) => server.close(() => resolve())) };
  };

  return {
    async open() {
      listening ??= await listen();
    },
    refuse() {
      if (!listening) return;
      closed = listening.close();
      listening = undefined;
      for (const session of sessions) session.close();
    },
    isOpen: () => listening !== undefined,
    hasEnded: () => listening === undefined && sessions.size === 0,
    countRuns: () => runs,
    async destroy() {
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}
