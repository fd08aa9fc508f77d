// `npm run proof -- any-model`: every endpoint of fal with 100 generated inputs and 100 that are wrong in one place
// through validation and the building of bodies, and 5 of each through a running server to the socket of the fake.
// `--short` takes 10 for validation, and sends one of each for every tenth endpoint.
import { importModel } from "../../src/models/import-model.ts";
import { createInputValidator } from "../../src/models/validate-input.ts";
import { fakeFal } from "../fake-vendors/fal.ts";
import { isShort, random, runCampaign } from "../support/campaign.ts";
import { startTestEnvironment } from "../support/test-environment.ts";
import { listFalEndpoints } from "./fal-endpoints.ts";
import { generateInputs, judgeInputs } from "./judge-inputs.ts";
import { sendInputs } from "./send-inputs.ts";

const INPUTS = isShort ? 10 : 100;
const SENT = isShort ? 1 : 5;
const SHORT_SHARE = 10;
const AT_ONCE = 24;
const SHOWN = 10;
const [judgedSeed, sentSeed, first] = [random(2 ** 31), random(2 ** 31), random(SHORT_SHARE)];

const endpoints = listFalEndpoints().map((endpoint) => {
  const imported = importModel("fal", endpoint.path, endpoint.document);
  if ("refused" in imported) throw new Error(`${endpoint.path}: ${imported.refused}`);
  return { ...endpoint, model: imported.model };
});

const verdictOf = (invariant: string, count: number, problems: string[]) => ({
  invariant,
  passed: count > 0 && problems.length === 0,
  observed: `${count} inputs, ${problems.length} problems`,
});

await runCampaign(
  "any model",
  {
    async validation(log) {
      const validator = createInputValidator();
      const totals = { valid: 0, wrong: 0, files: 0 };
      const problems: string[] = [];
      for (const [index, { model, document }] of endpoints.entries()) {
        const generated = generateInputs(model, { count: INPUTS, seed: judgedSeed });
        const judged = judgeInputs(model, document, generated, validator);
        problems.push(...judged.problems);
        for (const name of ["valid", "wrong", "files"] as const) totals[name] += judged[name];
        if (index % 300 === 299) log(`${index + 1} endpoints, ${problems.length} problems`);
      }
      return {
        name: `${endpoints.length} endpoints, ${totals.valid + totals.wrong} inputs, ${totals.files} files`,
        notes: problems.slice(0, SHOWN),
        results: [
          verdictOf(
            "valid inputs become the body as they are but for files; wrong ones name the place",
            totals.valid + totals.wrong,
            problems,
          ),
        ],
      };
    },
  },
  {
    async socket(log) {
      const fal = await fakeFal.start();
      fal.switches.workMs = 0;
      const world = await startTestEnvironment({
        env: { ...fakeFal.env(fal), PUBLIC_URL_IS_REACHABLE: "true", PROVENANCE: "off" },
      });
      try {
        const chosen = endpoints.filter((_, index) => !isShort || index % SHORT_SHARE === first);
        let done = 0;
        const sent = await sendInputs(world, fal, chosen, {
          ...{ count: SENT, seed: sentSeed, atOnce: AT_ONCE },
          onModel: ({ problems }) => {
            if (++done % 100 === 0) log(`${done} endpoints, ${problems.length} problems`);
          },
        });
        const [runs] = await world.query<{ count: number }>(
          "select count(*)::int from runs where operation = 'runs.create'",
        );
        return {
          name: `${chosen.length} endpoints, ${sent.valid + sent.wrong} inputs, ${sent.files} files`,
          notes: sent.problems.slice(0, SHOWN),
          results: [
            verdictOf(
              "valid inputs arrive with every value and the bytes of every file; wrong ones name the place",
              sent.valid + sent.wrong,
              sent.problems,
            ),
            {
              invariant: "every valid input is one run that completes and one job, and no wrong one is either",
              passed: runs!.count === sent.valid && fal.ledger.length === sent.valid && sent.completed === sent.valid,
              observed: `${sent.valid} valid: ${runs!.count} runs, ${fal.ledger.length} jobs, ${sent.completed} completed`,
            },
            {
              invariant: "the provider refuses nothing",
              passed: fal.invalidRequests.length === 0,
              observed: fal.invalidRequests.slice(0, 3).join("; ") || "nothing refused",
            },
          ],
          counts: { runs: sent.valid, kills: 0 },
        };
      } finally {
        await world.stop();
        await fal.close();
      }
    },
  },
);
