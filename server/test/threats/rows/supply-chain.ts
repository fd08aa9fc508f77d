// Threats by dependencies and by weak tests.
import type { ThreatSection } from "../threat.ts";

export const supplyChain: ThreatSection = {
  title: "Supply chain and assurance",
  threats: [
    {
      id: "T122",
      asset: "everything",
      entry: "packages, build actions, images",
      threat: "a dependency is poisoned",
      control:
        "packages come from the registry with checksums; install scripts run only for listed packages; a CycloneDX document lists all",
      kind: "control and test",
      tests: {
        "scripts/supply-chain/npm.test.ts": [
          "an installation fails on a script that is not listed, and does not run it",
          "npm ci installs a package whose script is denied without running it, and runs one that is allowed",
          "a script that the lockfile conceals does not run",
        ],
        "scripts/supply-chain/lockfile.test.ts": [
          "refuses an install script that allowScripts does not list, also one deep in the tree",
          "refuses a package that %s",
          "refuses a dependency on %s",
        ],
      },
    },
    {
      id: "T123",
      asset: "everything",
      entry: "dependencies",
      threat: "a dependency has a known vulnerability",
      control: "CI asks the registry for advisories, and fails on those of severity high or critical",
      kind: "control and test",
      tests: {
        "scripts/supply-chain/npm.test.ts": [
          "fails on a locked version with a high advisory, and passes without one",
          "says so if the registry does not answer, and then fails only if an answer is required",
        ],
        "scripts/supply-chain/advisories.test.ts": [
          "blocks on high and critical advisories, and names them",
          "an exception holds up to and including its last day",
        ],
      },
    },
    {
      id: "T124",
      asset: "everything",
      entry: "Gesso's own checks",
      threat: "a check does nothing",
      control: "mutation testing of the security-critical code",
      kind: "by configuration",
      reason:
        "`npm run proof -- mutation` and `npm run proof -- plants` change the code and expect a failing test. Both take hours, so they run before a release and not with `npm test`.",
      tests: { "server/test/plants/planted-faults.test.ts": ["the planted fault $name applies to the code"] },
    },
  ],
};
