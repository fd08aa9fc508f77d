// Logs every connection that this process tries to open, whether it is accepted or not, at the lowest level: in Node.js
// itself, when it calls connect.
import { createHook } from "node:async_hooks";
import { appendFileSync, existsSync, readFileSync } from "node:fs";

type Connecting = { address?: string; port?: number };

function watchConnections(note: (attempt: string) => void): void {
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type !== "TCPCONNECTWRAP") return;
      // Where to is written on it right after it is made.
      queueMicrotask(() => {
        const { address, port } = resource as Connecting;
        note(`${address} ${port}`);
      });
    },
  });
  hook.enable();
}

export type ConnectionLog = {
  /** Addresses and ports of connections since the last call. */
  drain(): { address: string; port: number }[];
};

const readAttempt = (line: string) => {
  const [address = "", port] = line.split(" ");
  return { address, port: Number(port) };
};

export function recordConnections(): ConnectionLog {
  const noted: string[] = [];
  watchConnections((attempt) => noted.push(attempt));
  return { drain: () => noted.splice(0).map(readAttempt) };
}

/** Of a process that was started with `noteAttemptsIn(file)` in its environment. */
export function readConnectionLog(file: string): ConnectionLog {
  let read = 0;
  return {
    drain: () => {
      const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
      const fresh = lines.slice(read);
      read = lines.length;
      return fresh.map(readAttempt);
    },
  };
}

export const connectionLogEnv = (file: string) => ({
  NODE_OPTIONS: `--import ${import.meta.url}`,
  CONNECTION_LOG_FILE: file,
});

const file = process.env.CONNECTION_LOG_FILE;
if (file) watchConnections((attempt) => appendFileSync(file, `${attempt}\n`));
