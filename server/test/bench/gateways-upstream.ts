// A process that responds to OpenAI image requests with one PNG of about 256 KiB in base64, as fast as a socket allows,
// so that the benchmark measures the gateways and not the provider. Arguments: port, side of the image in pixels.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import sharp from "sharp";

const IMAGE_BYTES = 256 * 1024;
const [port, side] = process.argv.slice(2).map(Number) as [number, number];

/** A smooth image with so many rows of noise that its file has about the wanted size. */
function drawImage(): Promise<Buffer> {
  const noisyRows = Math.min(side, Math.floor(IMAGE_BYTES / (side * 3)));
  const pixels = randomBytes(side * side * 3);
  for (let y = noisyRows; y < side; y++)
    for (let x = 0; x < side; x++) pixels.set([(x * 255) / side, (y * 255) / side, 128], (y * side + x) * 3);
  return sharp(pixels, { raw: { width: side, height: side, channels: 3 } })
    .png({ adaptiveFiltering: true })
    .toBuffer();
}

const image = await drawImage();
const body = Buffer.from(
  JSON.stringify({ created: 1_700_000_000, data: [{ b64_json: image.toString("base64") }], output_format: "png" }),
);
const headers = { "content-type": "application/json", "content-length": body.byteLength };

createServer((request, response) => {
  request.resume();
  request.once("end", () => {
    if (request.method === "POST" && request.url === "/v1/images/generations")
      response.writeHead(200, headers).end(body);
    else response.writeHead(request.url === "/ready" ? 200 : 404).end();
  });
}).listen(port, "127.0.0.1");
