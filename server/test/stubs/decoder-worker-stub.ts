// A stub of the decoder program that behaves like a compromised decoder: it dies, hangs, opens connections, inspects
// its environment and sends false replies.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { encodeDecoderMessage, readDecoderMessages } from "../../src/files/images/decoder-protocol.ts";

const reply = (header: Record<string, unknown>, bytes: Uint8Array = new Uint8Array()) => {
  for (const part of encodeDecoderMessage({ header, bytes })) process.stdout.write(part);
};

const calls = (port: number) =>
  new Promise<string>((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port, timeout: 2000 });
    socket.once("connect", () => resolve("connected"));
    socket.once("error", (thrown: NodeJS.ErrnoException) => resolve(String(thrown.code)));
    socket.once("timeout", () => resolve("timeout"));
  });

/** "done", or the code of the error. */
const outcomeOf = (work: () => unknown): string => {
  try {
    work();
    return "done";
  } catch (thrown) {
    return String((thrown as NodeJS.ErrnoException).code);
  }
};

reply({ sandbox: { hasNetwork: false, hasPrivileges: false, canReadServer: false, memoryBytes: 1, libraries: "" } });
for await (const { header, bytes } of readDecoderMessages(process.stdin, 2 ** 30)) {
  if (header.work === "die") process.kill(process.pid, "SIGSEGV");
  if (header.work === "hang") for (;;);
  if (header.work === "babble") process.stdout.write(Buffer.alloc(4096, 0xff));
  if (header.work === "look") reply({ env: process.env, uid: process.getuid?.(), cwd: process.cwd() });
  if (header.work === "call") reply({ outcome: await calls(header.port as number) });
  if (header.work === "eat") reply({ eaten: Buffer.alloc(header.bytes as number, 1).length });
  if (header.work === "reencode" || header.work === "verify") reply({}, bytes);
  if (header.work === "read") reply({ outcome: outcomeOf(() => readFileSync(String(header.path))) });
  if (header.work === "write") reply({ outcome: outcomeOf(() => writeFileSync(String(header.path), "x")) });
  if (header.work === "run") reply({ outcome: (spawnSync(process.execPath, ["-v"]).error as { code?: string })?.code });
  if (header.work === "signal") reply({ outcome: outcomeOf(() => process.kill(Number(header.pid), 0)) });
  if (header.work === "pid") reply({ pid: process.pid });
}
