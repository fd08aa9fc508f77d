// A stub of the decoder that behaves like a compromised decoder: exits, hangs, opens connections, reads files, returns
// wrong results.
import { createConnection } from "node:net";
import { encodeDecoderMessage, readDecoderMessages } from "../../src/images/decoder-protocol.ts";

const response = (says: Record<string, unknown>, bytes: Uint8Array = new Uint8Array()) => {
  for (const part of encodeDecoderMessage({ says, bytes })) process.stdout.write(part);
};

const calls = (port: number) =>
  new Promise<string>((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port, timeout: 2000 });
    socket.once("connect", () => resolve("connected"));
    socket.once("error", (thrown: NodeJS.ErrnoException) => resolve(String(thrown.code)));
    socket.once("timeout", () => resolve("timeout"));
  });

response({ walls: { hasNetwork: false, hasPrivileges: false, memoryBytes: 1, libraries: "" } });
for await (const { says, bytes } of readDecoderMessages(process.stdin, 2 ** 30)) {
  if (says.work === "die") process.kill(process.pid, "SIGSEGV");
  if (says.work === "hang") for (;;);
  if (says.work === "babble") process.stdout.write(Buffer.alloc(4096, 0xff));
  if (says.work === "look") response({ env: process.env, uid: process.getuid?.(), cwd: process.cwd() });
  if (says.work === "call") response({ outcome: await calls(says.port as number) });
  if (says.work === "eat") response({ eaten: Buffer.alloc(says.bytes as number, 1).length });
  if (says.work === "redraw" || says.work === "prove") response({}, bytes);
  if (says.work === "pid") response({ pid: process.pid });
}
