// A stub of a model's program, for tests of its process: does what its options say.
import type { ModelReply, ModelRequest } from "../../src/providers/local/model-process.ts";

const response = (reply: ModelReply) => process.send?.(reply);
const heaps: unknown[] = [];

process.on("message", ({ image, options }: ModelRequest) => {
  if (options.crash) process.abort();
  if (options.hang) return;
  if (options.eat) {
    for (let megabyte = 0; megabyte < Number(options.eat); megabyte++) heaps.push(Buffer.alloc(1024 * 1024, 1));
    return;
  }
  if (options.refuse)
    return response({ refused: "provider_rejected_input", details: { reason: String(options.refuse) } });
  if (options.fail) return response({ failed: "it did not work" });
  if (options.tell)
    return response({ bytes: Buffer.from(JSON.stringify({ env: process.env, argv: process.argv.slice(2) })) });
  setTimeout(() => response({ bytes: image }), Number(options.milliseconds ?? 0));
});
process.on("disconnect", () => process.exit());
