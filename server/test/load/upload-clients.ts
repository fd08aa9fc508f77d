// Uploads the files of a folder in parallel waves until stopped; then prints the responses and their counts.
// `upload-clients.ts URL KEY FOLDER COUNT`
import { readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";

const [, , url = "", key = "", folder = "", many = "1"] = process.argv;
/** Files that are answered sooner must not be sent more often. */
const WAVE_EVERY_MS = 3000;
const boundary = "----storm";
const bodies = readdirSync(folder).map((name) => {
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), readFileSync(join(folder, name)), Buffer.from(`\r\n--${boundary}--\r\n`)]);
});
const agent = new Agent({ keepAlive: true, maxSockets: Number(many) });
const headers = { authorization: `Bearer ${key}`, "content-type": `multipart/form-data; boundary=${boundary}` };

const send = (body: Buffer) =>
  new Promise<string>((resolve) => {
    const sent = request(`${url}/api/v1/upload`, {
      method: "POST",
      agent,
      headers: { ...headers, "content-length": body.length },
    });
    sent.on("response", (response) => response.resume().on("end", () => resolve(String(response.statusCode))));
    sent.on("error", (thrown: NodeJS.ErrnoException) => resolve(String(thrown.code)));
    sent.end(body);
  });

const responses: Record<string, number> = {};
let isOver = false;
process.on("message", () => {
  isOver = true;
});
let sent = 0;
const sendOne = async () => {
  const response = await send(bodies[sent++ % bodies.length]!);
  responses[response] = (responses[response] ?? 0) + 1;
};
process.send?.("blowing");
while (!isOver) {
  const nextWave = new Promise((resolve) => setTimeout(resolve, WAVE_EVERY_MS));
  await Promise.all(Array.from({ length: Number(many) }, sendOne));
  process.send?.("wave");
  await nextWave;
}
process.send?.(responses, () => process.exit());
