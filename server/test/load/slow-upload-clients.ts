// Opens many uploads at once and sends a byte a second to each; prints when all are open, and then how long each was
// kept open and its response. `slow-upload-clients.ts URL KEY COUNT`
import { connect } from "node:net";

const [, , url = "", key = "", many = "1"] = process.argv;
const { hostname, port } = new URL(url);
const lines = [
  ...["POST /api/v1/upload HTTP/1.1", "host: gesso", `authorization: Bearer ${key}`],
  ...["content-type: multipart/form-data; boundary=slow", "content-length: 20000000"],
];
const head = `${lines.join("\r\n")}\r\n\r\n`;
const startedAt = '--slow\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n';

const seconds: number[] = [];
const responses: Record<string, number> = {};
const sockets = Array.from({ length: Number(many) }, (_, n) => {
  const socket = connect({ host: hostname, port: Number(port) });
  let start = performance.now();
  let response = "nothing";
  socket.once("connect", () => {
    start = performance.now();
    // A third does not even finish its headers.
    socket.write(n % 3 === 0 ? head.slice(0, 60) : head + startedAt);
  });
  socket.once("data", (chunk) => {
    response = String(chunk).slice(0, 12);
  });
  socket.on("error", () => undefined);
  socket.once("close", () => {
    seconds.push((performance.now() - start) / 1000);
    responses[response] = (responses[response] ?? 0) + 1;
  });
  return socket;
});
const drip = setInterval(() => {
  for (const socket of sockets) if (socket.writable && !socket.connecting) socket.write("x");
}, 1000);

const until = async (isSo: () => boolean) => {
  for (const end = performance.now() + 60_000; !isSo() && performance.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
await until(() => sockets.every((socket) => !socket.connecting));
process.send?.("open");
await until(() => seconds.length === sockets.length);
clearInterval(drip);
process.send?.({ seconds: seconds.sort((a, b) => a - b), responses }, () => process.exit());
