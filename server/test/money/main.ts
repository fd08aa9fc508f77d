// `npm run proof -- money`: the races for money of the tests in full size, on one installation: 1,000 requests for a
// balance of ten runs, 200 random inputs and 300 cancellations against completions.
import { isShort, random, runCampaign } from "../support/campaign.ts";
import { listLedgerViolations } from "../support/check-ledger.ts";
import { PRICE, startPricedInstallation } from "./priced-installation.ts";
import { chargeRandomInputs, listMischarged, listMispriced, raceCancellations, raceForBalance } from "./races.ts";

const SIZE = isShort ? { requests: 200, inputs: 50, races: 60 } : { requests: 1000, inputs: 200, races: 300 };
const PAID_RUNS = 10;
const isNear = (left: number, right: number) => Math.abs(left - right) < 1e-6;

await runCampaign("money", {
  async races() {
    const environment = await startPricedInstallation();
    try {
      const balance = await raceForBalance(environment, { requests: SIZE.requests, paidRuns: PAID_RUNS });
      const mispriced = listMispriced(await chargeRandomInputs(environment, { inputs: SIZE.inputs, random }));
      const races = await raceCancellations(environment, { races: SIZE.races });
      const mischarged = listMischarged(races.ends);
      const violations = await listLedgerViolations(environment);
      const { accepted, refused, storedRuns, costs } = balance;
      return {
        name: `${SIZE.requests} requests, ${SIZE.inputs} inputs, ${races.ends.length} cancellations`,
        notes: [...mispriced, ...mischarged].slice(0, 5).map((each) => JSON.stringify(each)),
        results: [
          {
            invariant: `a balance for ${PAID_RUNS} runs accepts ${PAID_RUNS} of the requests and refuses the others`,
            passed: accepted === PAID_RUNS && refused === SIZE.requests - PAID_RUNS && storedRuns === PAID_RUNS,
            observed: `${accepted} accepted, ${refused} refused, ${storedRuns} stored`,
          },
          {
            invariant: "the accepted runs cost their price and empty the balance",
            passed: costs.every((cost) => cost === PRICE) && balance.balance === 0,
            observed: `${costs.join(", ")}; ${balance.balance} left`,
          },
          {
            invariant: "every random input costs its estimate",
            passed: mispriced.length === 0,
            observed: `${mispriced.length} of ${SIZE.inputs} do not`,
          },
          {
            invariant: "every raced run ends as completed or canceled, and is charged if its job was submitted",
            passed: mischarged.length === 0 && races.completed + races.canceled === races.ends.length,
            observed: `${races.completed} completed, ${races.canceled} canceled, ${mischarged.length} charged wrongly`,
          },
          {
            invariant: "balance and usage equal the charges of the raced runs",
            passed: isNear(races.spent, races.submitted * PRICE) && isNear(races.amount, races.submitted * PRICE),
            observed: `${races.submitted} submitted, ${races.spent} spent, ${races.amount} in usage`,
          },
          {
            invariant: "the ledger balances",
            passed: violations.length === 0,
            observed: JSON.stringify(violations),
          },
        ],
        counts: { runs: accepted + SIZE.inputs + races.ends.length, kills: 0 },
      };
    } finally {
      await environment.stop();
    }
  },
});
