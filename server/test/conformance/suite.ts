// Gives a file of the conformance suite a Gesso and the calls that its tests share. The tests know the server only by
// its API.
import { afterAll, beforeAll } from "vitest";
import { type ApiCaller, createCaller, sendOverHttp } from "../support/api-caller.ts";
import { insertDefaultTestModels } from "../support/custom-models.ts";
import { drawScene } from "../support/scene.ts";
import { type Installation, openSharedInstallation, serveScene } from "../support/shared-installation.ts";
import { createTestTenant, DEFAULT_TENANT, OPERATOR_SCOPES } from "../support/tenants.ts";
import {
  startTestEnvironment,
  type TestEnvironment,
  type TestEnvironmentOptions,
} from "../support/test-environment.ts";
import { sendThroughClient } from "./client-transport.ts";
import { recordingFetch } from "./exchanges.ts";
import { currentTransport, listClientCalls, recordClientCalls, type Transport } from "./http-and-client.ts";

/** The suite calls every operation, also those that return content of tenants. */
const EVERY_SCOPE = [...OPERATOR_SCOPES, "content:read"];

export type Suite<I = Installation> = {
  environment: I;
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

/** A tenant of the file's own in the installation that all files share. Its key can have the operator's scopes too. */
export const useSuite = ({ isOperator = false } = {}): Suite =>
  prepareSuite(() => openSharedInstallation(isOperator ? { scopes: EVERY_SCOPE } : {}));

/** An installation of the file's own, for tests that need settings of their own or stop a part of it. */
export function useOwnSuite(
  env: Record<string, string> = {},
  options: Pick<TestEnvironmentOptions, "roles"> = {},
): Suite<Installation & TestEnvironment> {
  return prepareSuite(async () => {
    const images = await serveScene();
    const environment = await startTestEnvironment({ ...options, env: { FETCH_ALLOW_ORIGINS: images.origin, ...env } });
    const tenantId = DEFAULT_TENANT;
    const { key } = await createTestTenant(environment, { tenantId, scopes: EVERY_SCOPE });
    const stop = async () => {
      images.close();
      await environment.stop();
    };
    const installation = { tenantId, operatorKey: environment.key, imageOrigin: images.origin };
    return { ...environment, ...installation, key, stop };
  });
}

function prepareSuite<I extends Installation>(start: () => Promise<I>): Suite<I> {
  const suite = { form } as Suite<I>;
  beforeAll(async () => {
    const bytes = await drawScene();
    const environment = await start();
    await insertDefaultTestModels(environment, environment.tenantId);
    const { url } = environment;
    const callersOf = (key: string) => ({
      http: createCaller(sendOverHttp({ url, key }, recordingFetch)),
      client: createCaller(sendThroughClient({ url, key }, recordClientCalls)),
    });
    const callers = callersOf(environment.key);
    Object.defineProperty(suite, "caller", { get: () => callers[currentTransport()] });
    const ready: Omit<Suite<I>, "caller" | "form"> = {
      environment,
      callerWith: (key) => callersOf(key)[currentTransport()],
      imageUrl: (name = "scene.png") => `${environment.imageOrigin}/${name}`,
      uploadImage: async (image, fields = {}) => {
        const { body } = await callers.http.post("/upload", form({ file: image ?? bytes, ...fields }));
        return body.data.run_id;
      },
    };
    Object.assign(suite, ready);
  });
  afterAll(() => suite.environment?.stop());
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
