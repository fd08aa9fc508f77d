// The campaign of signed outputs: processes are killed, the signing service is down for a while and its key changes,
// all under load. No output is completed unsigned, and nothing is lost: what cannot be signed yet waits.
import { setTimeout as pause } from "node:timers/promises";
import { createCertificateChain } from "@gesso/dev/certificate-chain";
import type { CampaignReport, CheckResult, Log } from "../support/campaign.ts";
import { startSigningService } from "../support/signing-service.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import { startChaosEnvironment } from "./chaos-environment.ts";
import { checkInvariants } from "./check-invariants.ts";
import { createSignedFileReader } from "./check-signed-file.ts";
import { CHAOS_ENV, createRunRequest } from "./process-kills.ts";
import { killRandomly, sumKills } from "./random-kills.ts";
import { postWhile, waitUntilAllEnded } from "./run-load.ts";
import { sweepRepeatedFiles } from "./sweep-repeated-files.ts";

const CHAINS = {
  first: await createCertificateChain({ name: "First key", fromDays: -2 }),
  second: await createCertificateChain({ name: "Second key" }),
};
const ROOTS = CHAINS.first.root + CHAINS.second.root;

type CampaignSize = { perSecond: number; kills: number; outageSeconds: number };

export async function signedOutputs(size: CampaignSize, log: Log): Promise<CampaignReport> {
  const signing = await startSigningService({ first: CHAINS.first.key, second: CHAINS.second.key });
  const reader = createSignedFileReader(ROOTS);
  let current: keyof typeof CHAINS = "first";
  const environment = await startChaosEnvironment({
    roles: "split",
    secondWorker: true,
    env: { ...CHAOS_ENV, PROVENANCE: "sign", PROVENANCE_TRUST_ANCHORS: ROOTS },
    processEnv: async () => ({
      PROVENANCE_CERTIFICATE: CHAINS[current].certificate,
      PROVENANCE_SIGN_URL: signing.urlOf(current),
    }),
  });
  let kills = 0;
  let isOver = false;
  const killSome = async () => {
    const half = Math.ceil(size.kills / 2);
    kills += sumKills(await killRandomly(environment, (counts) => sumKills(counts) >= half, log));
  };
  try {
    const loading = postWhile(
      environment,
      () => !isOver,
      size.perSecond,
      (index) => createRunRequest(index, false),
    );
    await killSome();
    await signing.interrupt();
    log("signing service down");
    const outage = await waitWithoutSigner(environment, size.outageSeconds);
    await signing.resume();
    current = "second";
    for (const name of ["worker", "worker2", "api"] as const) {
      await environment.stopGracefully(name);
      await environment.start(name);
    }
    log("signing service up, with another key");
    await killSome();
    isOver = true;
    const posted = await loading;
    await waitUntilAllEnded(environment, 180);
    const swept = await sweepRepeatedFiles(environment, signing.signatureCount());
    const results = await checkInvariants(environment, posted, { readOutput: reader.read });
    const waited = await checkOutage(environment, outage, reader.builtAt);
    return {
      name: `${posted.length} signed runs, ${kills} kills, ${size.outageSeconds} s without a signer, one change of keys`,
      results: [...results, swept, waited, checkSigners(reader.signers)],
      notes: [],
      counts: { runs: posted.length, kills },
    };
  } finally {
    await environment.stop();
    await signing.close();
    reader.close();
  }
}

type Outage = { from: Date; until: Date; waiting: number };

async function waitWithoutSigner(environment: TestEnvironment, seconds: number): Promise<Outage> {
  const from = new Date();
  await pause(seconds * 1000);
  const [row] = await environment.query<{ count: number }>("select count(*)::int from open_runs");
  return { from, until: new Date(), waiting: row!.count };
}

/** A run whose worker was killed may end later with the signature that it has. No other one completes. */
async function checkOutage(
  environment: TestEnvironment,
  { from, until, waiting }: Outage,
  builtAt: Map<string, number>,
): Promise<CheckResult> {
  const completed = await environment.query<{ run_id: string }>(
    "select run_id from runs where status = 'completed' and finished_at between $1 and $2",
    [from, until],
  );
  const unexplained = completed.filter(({ run_id }) => !((builtAt.get(run_id) ?? Number.NaN) < from.getTime()));
  return {
    invariant: "without a signer runs wait, and only those complete that were signed before",
    passed: unexplained.length === 0 && waiting > 0,
    observed: `${completed.length} completed, ${unexplained.length} not signed before, ${waiting} waited`,
  };
}

const checkSigners = (signers: Map<string, number>): CheckResult => ({
  invariant: "outputs were signed with both keys, before and after the change",
  passed: signers.size === Object.keys(CHAINS).length,
  observed: [...signers].map(([name, count]) => `${name} ${count}`).join(", "),
});
