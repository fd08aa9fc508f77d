// The environment of a chaos campaign: prices and a balance, so that money moves; a vendor that responds only with the
// finished image; optionally S3 storage and TCP proxies between the server processes and what they depend on.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "@gesso/dev/components";
import { createDiskStorage } from "../../src/files/storage/disk-storage.ts";
import type { ObjectStorage } from "../../src/files/storage/object-storage.ts";
import { createS3Storage } from "../../src/files/storage/s3-storage.ts";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { fakeOpenai } from "../fake-vendors/openai.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { S3_TEST_CREDENTIALS, startS3Server } from "../support/s3-server.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import {
  type DependencyAddresses,
  type ProcessName,
  startTestEnvironment,
  type TestEnvironment,
  type TestEnvironmentOptions,
} from "../support/test-environment.ts";
import { PRICE_MICRODOLLARS } from "./check-charges.ts";
import { createFaultLog, type FaultLog, recordKills } from "./fault-log.ts";
import { IMPORTED_MODELS, type RecoveryClass } from "./run-load.ts";

const PRICES = fileURLToPath(new URL("./prices.yaml", import.meta.url));
const TENANT = "00000000-0000-7000-8000-000000000001";
const BALANCE_DOLLARS = 100_000;

export type ChaosEnvironment = TestEnvironment & {
  faults: FaultLog;
  storage: ObjectStorage;
  /** The vendor of recovery class D. */
  openai: FakeVendor;
  /** A file system that holds only the data of PostgreSQL, if a campaign mounted one. */
  databaseDisk?: string | undefined;
  /** Set with `hasProxies`. */
  proxies: Proxies | undefined;
  bucket: Bucket | undefined;
};

export type ChaosOptions = TestEnvironmentOptions & { hasBucket?: boolean; hasProxies?: boolean };

type Bucket = { endpoint: string; name: string; stop(): Promise<void> };

export async function startChaosEnvironment({ hasBucket, hasProxies, env, ...options }: ChaosOptions) {
  const openai = await fakeOpenai.start();
  const bucket = hasBucket ? await createBucket() : undefined;
  const proxies = hasProxies ? await createProxies(bucket) : undefined;
  const faults = createFaultLog();
  const environment = await startTestEnvironment({
    ...options,
    env: {
      // Outputs are compared with the bytes of the vendor.
      PROVENANCE: "off",
      ...env,
      ...fakeOpenai.env(openai),
      GESSO_CONFIG: PRICES,
      ...(bucket && bucketEnv(bucket, proxies?.storage?.port)),
    },
    ...(proxies && { processEnv: proxies.envOf }),
  });
  const storage = bucket ? openBucket(bucket) : createDiskStorage(environment.storageDir);
  const chaos: ChaosEnvironment = {
    ...recordKills(environment, faults),
    ...{ faults, storage, openai, proxies, bucket },
    async stop() {
      await environment.stop();
      await proxies?.close();
      await openai.close();
      await bucket?.stop();
    },
  };
  const operator = createHttpCaller(environment);
  const prepared = [
    await operator.post(`/tenants/${TENANT}/credit`, { amount: BALANCE_DOLLARS }),
    ...(await importModels(operator)),
  ];
  const refused = prepared.find(({ status }) => status !== 200);
  if (!refused) return chaos;
  await chaos.stop();
  throw new Error(`the environment was not prepared: ${refused.status} ${JSON.stringify(refused.body)}`);
}

/** At the price of their recovery class. */
const importModels = (operator: ApiCaller) =>
  Promise.all(
    Object.entries(IMPORTED_MODELS).map(([recoveryClass, model]) => {
      const price = PRICE_MICRODOLLARS[recoveryClass as RecoveryClass] / 1_000_000;
      return operator.post("/catalogue/models", { model, price });
    }),
  );

/** A bucket on the S3 server of this test run, or on one that is started for this campaign. */
async function createBucket(): Promise<Bucket> {
  const name = `chaos-${Date.now()}`;
  const running = process.env.TEST_S3_ENDPOINT;
  const server = running
    ? { endpoint: running, stop: async () => {} }
    : await startS3Server(mkdtempSync(join(tmpdir(), "gesso-chaos-s3-")), await freePort());
  const bucket = { endpoint: server.endpoint, name, stop: server.stop };
  await openBucket(bucket).ensureBucket();
  return bucket;
}

const openBucket = ({ endpoint, name }: Bucket) =>
  createS3Storage({
    endpoint,
    region: "us-east-1",
    bucket: name,
    credentials: S3_TEST_CREDENTIALS,
    forcePathStyle: true,
  });

const bucketEnv = (bucket: Bucket, proxyPort: number | undefined) => ({
  STORAGE: "s3",
  S3_ENDPOINT: proxyPort === undefined ? bucket.endpoint : `http://127.0.0.1:${proxyPort}`,
  S3_BUCKET: bucket.name,
  S3_ACCESS_KEY_ID: S3_TEST_CREDENTIALS.accessKeyId,
  S3_SECRET_ACCESS_KEY: S3_TEST_CREDENTIALS.secretAccessKey,
});

export type Proxies = {
  /** Between a server process and PostgreSQL. */
  database: Map<ProcessName, TcpProxy>;
  /** Between the first worker and the ingress of each engine node. */
  ingress: TcpProxy[];
  /** Between the engine and the workers; a load balancer that skips the workers in `unavailable`. */
  workers: TcpProxy;
  unavailable: Set<ProcessName>;
  /** Between all server processes and the bucket. */
  storage: TcpProxy | undefined;
  envOf(name: ProcessName, addresses: DependencyAddresses): Promise<Record<string, string>>;
  close(): Promise<void>;
};

async function createProxies(bucket: Bucket | undefined): Promise<Proxies> {
  const database = new Map<ProcessName, TcpProxy>();
  const ingress: TcpProxy[] = [];
  const unavailable = new Set<ProcessName>();
  const ports: [ProcessName, number][] = [
    ["worker", await freePort()],
    ["worker2", await freePort()],
  ];
  let turn = 0;
  const workers = await startTcpProxy(() => {
    const available = ports.filter(([name]) => !unavailable.has(name));
    return available[turn++ % available.length]![1];
  });
  const storage = bucket && (await startTcpProxy(Number(new URL(bucket.endpoint).port)));

  const databaseUrlOf = async (name: ProcessName, url: string) => {
    const proxy = database.get(name) ?? (await startTcpProxy(Number(new URL(url).port)));
    database.set(name, proxy);
    return Object.assign(new URL(url), { port: String(proxy.port) }).href;
  };
  const ingressUrlOf = async (urls: string) => {
    if (ingress.length === 0)
      for (const url of urls.split(",")) ingress.push(await startTcpProxy(Number(new URL(url).port)));
    return ingress.map(({ port }) => `http://127.0.0.1:${port}`).join(",");
  };
  return {
    ...{ database, ingress, workers, unavailable, storage },
    async envOf(name, { databaseUrl, ingressUrl }) {
      const port = ports.find(([worker]) => worker === name)?.[1];
      return {
        DATABASE_URL: await databaseUrlOf(name, databaseUrl),
        ...(name === "worker" && { RESTATE_INGRESS_URL: await ingressUrlOf(ingressUrl) }),
        ...(port !== undefined && { WORKER_PORT: String(port) }),
        WORKER_URL: `http://127.0.0.1:${workers.port}`,
      };
    },
    async close() {
      for (const proxy of [...database.values(), ...ingress, workers, ...(storage ? [storage] : [])])
        await proxy.close();
    },
  };
}
