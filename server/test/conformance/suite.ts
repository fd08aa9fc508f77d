// One running Gesso for the conformance suite, and words to ask it with. Nothing here knows the server from the inside.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import { afterAll, beforeAll } from "vitest";
import { type ApiCaller, createCaller, createHttpCaller } from "../support/api-caller.ts";
import { insertDefaultTestModels } from "../support/custom-models.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { sendThroughClient } from "./client-transport.ts";
import { countClientCall, countedClientCalls, currentTransport, type Transport } from "./http-and-client.ts";

export type Suite = {
  world: TestEnvironment;
  /** Speaks the way that the running test goes. */
  caller: ApiCaller;
  /** Address of a real picture on a server of the test's own. */
  imageUrl(name?: string): string;
  /** A run that holds a picture, by upload. */
  uploadImage(bytes?: Buffer, fields?: Record<string, string>): Promise<string>;
  /** A form with these fields; Buffers become files. */
  form(fields: Record<string, string | Buffer | (string | Buffer)[]>): FormData;
};

/** A grey ground with a red circle on the left and a blue square on the right. */
export const drawScene = (width = 128, height = 96): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: "#808080" } })
    .composite([
      {
        input: drawing(
          width,
          height,
          `<circle cx="${width * 0.25}" cy="${height / 2}" r="${height * 0.25}" fill="#e01020"/>`,
        ),
      },
      {
        input: drawing(
          width,
          height,
          `<rect x="${width * 0.65}" y="${height * 0.3}" width="${width * 0.2}" height="${height * 0.4}" fill="#1030e0"/>`,
        ),
      },
    ])
    .png()
    .toBuffer();

const drawing = (width: number, height: number, shape: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${shape}</svg>`);

export function useSuite(env: Record<string, string> = {}): Suite {
  const suite = { form } as Suite;
  let pictures: Server;
  beforeAll(async () => {
    const bytes = await drawScene();
    pictures = createServer((request, response) => {
      if (request.url?.startsWith("/missing")) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "image/png", "content-length": bytes.length });
      response.end(bytes);
    });
    await new Promise<void>((resolve) => pictures.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(pictures.address() as AddressInfo).port}`;
    const environment = await startTestEnvironment({ env: { FETCH_ALLOW_ORIGINS: origin, ...env } });
    await insertDefaultTestModels(environment);
    const callers = {
      http: createHttpCaller(environment),
      client: createCaller(sendThroughClient(environment, countClientCall)),
    };
    Object.defineProperty(suite, "caller", { get: () => callers[currentTransport()] });
    Object.assign(suite, {
      world: environment,
      pictureUrl: (name = "scene.png") => `${origin}/${name}`,
      uploaded: async (picture?: Buffer, fields = {}) => {
        const { body } = await suite.caller.post("/upload", form({ file: picture ?? bytes, ...fields }));
        return body.data.run_id;
      },
    });
  }, 90_000);
  afterAll(async () => {
    pictures?.close();
    await suite.world?.stop();
  });
  return suite;
}

function form(fields: Parameters<Suite["form"]>[0]): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (typeof each === "string") made.append(name, each);
      else made.append(name, new Blob([new Uint8Array(each)], { type: "image/png" }), `${name}.png`);
    }
  }
  return made;
}

/** What several tests look at: made once for each way, by the first test that asks. */
export function oncePerTransport<T>(make: () => Promise<T>): () => Promise<T> {
  const made = new Map<Transport, { value: T; times: number }>();
  return async () => {
    const way = currentTransport();
    const known = made.get(way);
    const before = countedClientCalls();
    const own = known ?? { value: await make(), times: countedClientCalls() - before };
    made.set(way, own);
    if (known) countClientCall(known.times);
    return own.value;
  };
}
