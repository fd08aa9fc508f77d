// Starts one Gesso for a file of the conformance suite and provides the calls that its tests share. The tests know the
// server only by its API.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import { afterAll, beforeAll } from "vitest";
import { type ApiCaller, createCaller, createHttpCaller } from "../support/api-caller.ts";
import { insertDefaultTestModels } from "../support/custom-models.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { sendThroughClient } from "./client-transport.ts";
import { currentTransport, listClientCalls, recordClientCalls, type Transport } from "./http-and-client.ts";

export type Suite = {
  environment: TestEnvironment;
  /** Sends requests over the transport of the running test: HTTP or the client. */
  caller: ApiCaller;
  /** The same with another credential. */
  callerWith(key: string): ApiCaller;
  /** URL of an image on a server that the test runs. */
  imageUrl(name?: string): string;
  /** Uploads an image over HTTP, as a source of the request under test, and returns the ID of its run. */
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
  let images: Server;
  beforeAll(async () => {
    const bytes = await drawScene();
    images = createServer((request, response) => {
      if (request.url?.startsWith("/missing")) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "image/png", "content-length": bytes.length });
      response.end(bytes);
    });
    await new Promise<void>((resolve) => images.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
    const environment = await startTestEnvironment({ env: { FETCH_ALLOW_ORIGINS: origin, ...env } });
    await insertDefaultTestModels(environment);
    const { url } = environment;
    const callersOf = (key: string) => ({
      http: createHttpCaller({ url, key }),
      client: createCaller(sendThroughClient({ url, key }, recordClientCalls)),
    });
    const callers = callersOf(environment.key);
    Object.defineProperty(suite, "caller", { get: () => callers[currentTransport()] });
    const ready: Omit<Suite, "caller" | "form"> = {
      environment,
      callerWith: (key) => callersOf(key)[currentTransport()],
      imageUrl: (name = "scene.png") => `${origin}/${name}`,
      uploadImage: async (image, fields = {}) => {
        const { body } = await callers.http.post("/upload", form({ file: image ?? bytes, ...fields }));
        return body.data.run_id;
      },
    };
    Object.assign(suite, ready);
  }, 90_000);
  afterAll(async () => {
    images?.close();
    await suite.environment?.stop();
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

/** A value that several tests share: created once for each transport, by the first test that needs it. */
export function oncePerTransport<T>(make: () => Promise<T>): () => Promise<T> {
  const made = new Map<Transport, { value: T; calls: string[] }>();
  return async () => {
    const transport = currentTransport();
    const known = made.get(transport);
    if (known) {
      recordClientCalls(known.calls);
      return known.value;
    }
    const before = listClientCalls().length;
    const value = await make();
    made.set(transport, { value, calls: listClientCalls().slice(before) });
    return value;
  };
}
