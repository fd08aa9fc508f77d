// A stub of a model's program, for tests of its process: does what its options say.
import { encodeDecoderMessage, readDecoderMessages } from "../../src/files/images/decoder-protocol.ts";
import { splitParts } from "../../src/files/images/pixel-tasks.ts";

const heaps: unknown[] = [];
const reply = (header: Record<string, unknown>, bytes: Uint8Array = new Uint8Array()) => {
  for (const part of encodeDecoderMessage({ header, bytes })) process.stdout.write(part);
};
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

reply({ sandbox: { hasNetwork: false, hasPrivileges: false, canReadServer: false, memoryBytes: 1, libraries: "" } });
for await (const message of readDecoderMessages(process.stdin, 2 ** 30)) {
  const options = message.header.options as Record<string, unknown>;
  const [image] = splitParts(message);
  if (options.crash) process.abort();
  if (options.hang) for (;;);
  if (options.eat) {
    for (let megabyte = 0; megabyte < Number(options.eat); megabyte++) heaps.push(Buffer.alloc(1024 * 1024, 1));
    await pause(60_000);
  }
  if (options.refuse) reply({ refused: options.refuse });
  else if (options.fail) reply({ failed: "it did not work" });
  else if (options.tell) {
    const seen = { env: process.env, argv: process.argv.slice(2), uid: process.getuid?.() };
    reply({}, Buffer.from(JSON.stringify(seen)));
  } else {
    await pause(Number(options.milliseconds ?? 0));
    reply({}, image);
  }
}
