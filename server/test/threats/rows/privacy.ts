// Threats to provenance and privacy.
import type { ThreatSection } from "../threat.ts";

export const privacy: ThreatSection = {
  title: "Provenance and privacy",
  threats: [
    {
      id: "T125",
      asset: "law",
      entry: "every output",
      threat: "an output is not marked as generated",
      control: "outputs are marked",
      kind: "control and test",
      tests: {},
    },
    {
      id: "T126",
      asset: "provenance",
      entry: "image pipeline",
      threat: "a conversion removes the mark of an image",
      control: "a manifest of the source is kept beside the image",
      kind: "control and test",
      tests: {
        "server/test/scenarios/untrusted-images.test.ts": [
          "keeps a signed provenance manifest of an image beside it, until the run is deleted",
        ],
      },
    },
    {
      id: "T127",
      asset: "signing keys",
      entry: "workers",
      threat: "steals the key that signs manifests",
      control: "Gesso has no signing key",
      kind: "control and test",
      tests: {},
    },
    {
      id: "T128",
      asset: "privacy",
      entry: "logs",
      threat: "prompts and images are logged",
      control: "logs contain neither",
      kind: "control and test",
      tests: {},
    },
    {
      id: "T129",
      asset: "privacy",
      entry: "providers",
      threat: "a provider keeps data",
      control: "requests ask providers not to store",
      kind: "control and test",
      tests: {},
    },
    {
      id: "T130",
      asset: "privacy",
      entry: "telemetry",
      threat: "data leaves the installation",
      control: "Gesso contacts only configured hosts",
      kind: "control and test",
      tests: {},
    },
  ],
};
