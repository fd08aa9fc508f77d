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
      control:
        "outputs are signed with C2PA manifests, or marked where there is no certificate, unless the operator turns it off",
      kind: "control and test",
      tests: {
        "server/test/scenarios/provenance.test.ts": [
          "is trusted by the C2PA project's own package, and its ingredients are the run tree",
        ],
        "server/src/files/provenance/settings.test.ts": [
          "outputs are signed with a certificate, marked without one, and as they are only if the operator says so",
        ],
      },
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
      control:
        "only one process has the key, and it reads no files of callers; the processes that ask it for signatures do not verify files that callers send; or a service or program of the operator signs",
      kind: "control and test",
      tests: {
        "server/src/files/provenance/provenance-service.test.ts": [
          "no process of provenance has a secret of the server in its environment, and only one has the key",
          "a process that has read a file of a caller never signs",
          "an operator's program signs with a key that Gesso does not have",
        ],
      },
    },
    {
      id: "T128",
      asset: "privacy",
      entry: "logs",
      threat: "prompts and images are logged",
      control: "logs contain neither",
      kind: "control and test",
      tests: {
        "server/test/scenarios/logged-prompts.test.ts": [
          "contains nothing of 20 prompts that succeed, fail, are refused or are invalid",
        ],
      },
    },
    {
      id: "T129",
      asset: "privacy",
      entry: "providers",
      threat: "a provider keeps data",
      control:
        "fal is asked to delete files after a day, and to keep no requests if the operator sets that; the other providers have no such option",
      kind: "control and test",
      tests: {
        "server/src/providers/fal.test.ts": [
          "of every offer asks fal to delete the files after a day and, if the operator wants it, to keep no requests: keep %s",
        ],
        "server/src/providers/fal/image-transfer.test.ts": ["is uploaded with the request to delete it after a day"],
      },
    },
    {
      id: "T130",
      asset: "privacy",
      entry: "telemetry",
      threat: "data leaves the installation",
      control: "Gesso contacts only configured hosts",
      kind: "control and test",
      tests: {
        "server/test/privacy/egress.test.ts": [
          "completes a run without a packet to another host and without a DNS query of its own",
        ],
      },
    },
  ],
};
