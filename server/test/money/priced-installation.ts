// An installation whose models have prices, and tenants with a prepaid balance, for tests and the campaign of money.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, type TestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

/** Of one image of `flux-dev`, in US dollars. */
export const PRICE = 0.03;
export const ORDER = { prompt: "[sandbox:delay=0] a coin", width: 64, height: 64 };

const catalogue = (price: number) => `
models:
  flux-dev: [{ provider: sandbox, price: ${price} }]
  vendora: [{ provider: sandbox, price: 0.25, per: call }]
  qwen-image-edit: [{ provider: sandbox, price: 0.011, per: megapixel }]
  nanobanana: [{ provider: sandbox, price: unknown }]
  upscale-default: [{ provider: sandbox, price: 0.01, per: megapixel }]
`;

export type PricedInstallation = TestEnvironment & {
  /** Of `flux-dev`; applies after a restart. */
  setPrice(price: number): void;
};

export async function startPricedInstallation(): Promise<PricedInstallation> {
  const folder = mkdtempSync(join(tmpdir(), "gesso-money-"));
  const file = join(folder, "gesso.yaml");
  const setPrice = (price: number) => writeFileSync(file, catalogue(price));
  setPrice(PRICE);
  const env = { GESSO_CONFIG: file, UNKNOWN_SECONDS: "1", SUBMIT_SECONDS: "3" };
  const environment = await startTestEnvironment({ roles: "split", env });
  return {
    ...environment,
    setPrice,
    async stop() {
      await environment.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const addCredit = (
  environment: TestEnvironment,
  tenantId: string,
  amount: number,
  headers?: Record<string, string>,
) => createHttpCaller(environment).post(`/tenants/${tenantId}/credit`, { amount }, headers);

export async function createPrepaidTenant(environment: TestEnvironment, amount: number): Promise<TestTenant> {
  const tenant = await createTestTenant(environment);
  const { status, body } = await addCredit(environment, tenant.tenant_id, amount);
  if (status !== 200) throw new Error(`credit: ${status} ${JSON.stringify(body)}`);
  return tenant;
}

/** A busy server may return 503; the client retries. */
export async function retryWhileBusy<T extends { status: number }>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    const response = await send();
    if (response.status !== 503 && response.status !== 429) return response;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** The transfers of a run in the ledger, in millionths of a US dollar. */
export const listTransfers = (environment: TestEnvironment, runId: string) =>
  environment.query<{ kind: string; amount: string }>(
    "select kind, amount::text from transfers where cause_id = $1 order by kind",
    [runId],
  );
