// Requests of an adapter in a form that tests can search: every value with its path, and images by size and hash.
import { createHash } from "node:crypto";
import sharp from "sharp";
import type { ProviderContext } from "../../src/providers/provider.ts";

/** One value of a request. An image is `image 64x64 <hash>`. */
export type RequestLeaf = { path: string; value: unknown };

export const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

const described = new Map<string, Promise<string | undefined>>();

/** Undefined if the bytes are not an image. */
function describeImage(bytes: Uint8Array): Promise<string | undefined> {
  const hash = hashOf(bytes);
  const known =
    described.get(hash) ??
    sharp(bytes)
      .metadata()
      .then(
        ({ width, height }) => `image ${width}x${height} ${hash}`,
        () => undefined,
      );
  described.set(hash, known);
  return known;
}

const BASE64_IMAGE = /^(?:data:image\/\w+;base64,)?((?:iVBORw0KGgo|\/9j\/|UklGR)[A-Za-z0-9+/=]*)$/;

export async function leavesOf(value: unknown, path = ""): Promise<RequestLeaf[]> {
  if (value === undefined) return [];
  if (value instanceof Uint8Array) return [{ path, value: (await describeImage(value)) ?? hashOf(value) }];
  if (value instanceof Blob) return leavesOf(new Uint8Array(await value.arrayBuffer()), path);
  if (value instanceof FormData) {
    const entries = await Promise.all(
      [...value].map(([name, each], index) => leavesOf(each, `${path}.${index}.${name}`)),
    );
    return entries.flat();
  }
  if (typeof value === "string") {
    const image = BASE64_IMAGE.exec(value)?.[1];
    return [{ path, value: (image && (await describeImage(Buffer.from(image, "base64")))) || value }];
  }
  if (value === null || typeof value !== "object") return [{ path, value }];
  const entries = Object.entries(value).map(([name, each]) => leavesOf(each, `${path}.${name}`));
  return (await Promise.all(entries)).flat();
}

/** What the second request has and the first does not have at the same place. */
export function changedLeaves(before: RequestLeaf[], after: RequestLeaf[]): RequestLeaf[] {
  const known = new Map(before.map(({ path, value }) => [path, value]));
  return after.filter(({ path, value }) => !known.has(path) || known.get(path) !== value);
}

/** A context that records the body of every request. */
export function recordBodies(context: ProviderContext<unknown>) {
  const bodies: unknown[] = [];
  const send: ProviderContext<unknown>["send"] = (url, request) => {
    const { body } = request;
    if (body !== undefined) bodies.push(typeof body === "string" ? JSON.parse(body) : body);
    return context.send(url, request);
  };
  return { context: { ...context, send }, bodies };
}
