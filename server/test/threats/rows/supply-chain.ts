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
      control: "a lockfile, install scripts off",
      kind: "control and test",
      tests: {},
    },
    {
      id: "T123",
      asset: "everything",
      entry: "dependencies",
      threat: "a dependency has a known vulnerability",
      control: "dependencies are audited",
      kind: "control and test",
      tests: {},
    },
    {
      id: "T124",
      asset: "everything",
      entry: "Gesso's own checks",
      threat: "a check does nothing",
      control: "mutation testing of the security-critical code",
      kind: "control and test",
      tests: {},
    },
  ],
};
