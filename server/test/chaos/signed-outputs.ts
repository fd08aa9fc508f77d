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

const CHAINS = {
  first: await createCertificateChain({ name: "First key", fromDays: -2 }),
  second: await createCertificateChain({ name: "Second key" }),
};
const ROOTS = CHAINS.first.root + CHAINS.second.root;
/** How long a run may take to end after its last signature. */
const END_SECONDS = 3;

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
    const ended = await countEndsWithoutSigner(environment, size.outageSeconds);
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
    const results = await checkInvariants(environment, posted, { readOutput: reader.read });
    return {
      name: `${posted.length} signed runs, ${kills} kills, ${size.outageSeconds} s without a signer, one change of keys`,
      results: [...results, ended, checkSigners(reader.signers)],
      notes: [`signatures made: ${signing.signatureCount()}`],
      counts: { runs: posted.length, kills },
    };
  } finally {
    await environment.stop();
    await signing.close();
    reader.close();
  }
}

/** A run may end with a signature that it got before. Uploads aside, nothing else may complete. */
async function countEndsWithoutSigner(environment: TestEnvironment, seconds: number): Promise<CheckResult> {
  await pause(END_SECONDS * 1000);
  const count = async (condition: string) => {
    const sql = `select count(*)::int from ${condition}`;
    return (await environment.query<{ count: number }>(sql))[0]!.count;
  };
  const completed = () => count("runs where status = 'completed'");
  const before = await completed();
  await pause((seconds - END_SECONDS) * 1000);
  const [after, waiting] = [await completed(), await count("open_runs")];
  return {
    invariant: "without a signer no run completes, and runs wait",
    passed: after === before && waiting > 0,
    observed: `${after - before} completed, ${waiting} open after ${seconds} s`,
  };
}

const checkSigners = (signers: Map<string, number>): CheckResult => ({
  invariant: "outputs were signed with both keys, before and after the change",
  passed: signers.size === Object.keys(CHAINS).length,
  observed: [...signers].map(([name, count]) => `${name} ${count}`).join(", "),
});
