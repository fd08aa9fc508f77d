// Threats to the separation of tenants and to permissions.
import type { ThreatSection } from "../threat.ts";

export const tenants: ThreatSection = {
  title: "Tenants and permissions",
  threats: [
    {
      id: "T18",
      asset: "data of tenants",
      entry: "every operation",
      threat: "names the ID of another tenant's resource",
      control: "every query names the tenant, and row-level security repeats the condition",
      kind: "control and test",
      tests: {
        "server/test/access/isolation.test.ts": [
          "are tested in every operation that takes an ID; the other operations are listed",
          "are refused everywhere, with the response of an unknown ID, and change nothing",
        ],
      },
    },
    {
      id: "T19",
      asset: "data of tenants",
      entry: "database",
      threat: "row-level security does not apply",
      control: "it is forced for the owner too; the program's role owns no table; without a tenant no row is visible",
      kind: "control and test",
      tests: {
        "server/src/db/row-level-security.test.ts": [
          "has row-level security, for its owner too, and no grants on partitions",
          "shows nothing to a statement without a tenant, nor with one that does not exist",
          "sees that tenant alone, with two of them interleaved on five connections, and leaves nothing behind",
        ],
        "server/test/access/isolation.test.ts": ["are rejected by row-level security alone, and not once it is off"],
      },
    },
    {
      id: "T20",
      asset: "images",
      entry: "layers, trees, files, thumbnails, streams",
      threat: "reads a derived representation that skips the check",
      control: "all representations are read through the same tenant condition; a file needs its signed URL",
      kind: "control and test",
      tests: {
        "server/test/access/isolation.test.ts": [
          "are refused everywhere, with the response of an unknown ID, and change nothing",
          "a file needs the signature of its own URL; with another signature or none it is not found",
        ],
        "server/test/scenarios/library.test.ts": ["returns the same 404 for an unknown run and another tenant's: %s"],
      },
    },
    {
      id: "T21",
      asset: "administration",
      entry: "operations of administrators",
      threat: "an authenticated caller without the role uses them",
      control: "every operation has a scope; a scope of the operator must be named and no wildcard matches it",
      kind: "control and test",
      tests: {
        "server/test/access/authentication.test.ts": ["scopes for managing keys"],
        "server/src/access/scopes.test.ts": [
          "is derived from its name and its method",
          "of the operator must be named: no wildcard matches it",
          "for content of tenants must be named: neither a wildcard nor the operator's scope includes it",
          "allows nothing that the credential does not have",
        ],
        "server/test/conformance/single-sign-on.test.ts": ["[AUT-012] does what its scopes cover and nothing else"],
      },
    },
    {
      id: "T22",
      asset: "custom models",
      entry: "a queued run",
      threat: "a run executes after its permission was revoked",
      control: "access is checked again when a run starts",
      kind: "control and test",
      tests: {
        "server/test/scenarios/custom-models.test.ts": [
          "fails all … of them with model_not_found, asks no vendor, and costs nothing",
        ],
        "server/src/runs/accept/custom-models.test.ts": [
          "is refused if access was revoked, unless something was already sent",
        ],
      },
    },
    {
      id: "T23",
      asset: "models of other tenants, files of workers",
      entry: "names of LoRAs and deployments",
      threat: "a name becomes a path, or selects another tenant's model",
      control: "names are registered, match a narrow pattern, and are never joined to a path",
      kind: "control and test",
      tests: {
        "server/test/scenarios/custom-models.test.ts": [
          "are rejected in each field, and reach no provider",
          "are rejected as deployments too, and so are names of another tenant",
        ],
        "server/src/providers/comfyui.test.ts": ["never contains a path from the caller"],
      },
    },
    {
      id: "T24",
      asset: "rows",
      entry: "request bodies",
      threat: "sets fields that belong to the server",
      control: "unknown fields are refused at every level except inside `metadata`",
      kind: "control and test",
      tests: {
        "server/test/conformance/http-request-bodies.test.ts": [
          "[GNL-003] rejects an unknown field at the top of a JSON body, on every operation that accepts one",
          "[GNL-004] rejects an unknown field in a form, on every operation that accepts one",
          "[GNL-005] refuses an unknown field within a nested object",
        ],
      },
    },
    {
      id: "T25",
      asset: "existence of resources",
      entry: "404 responses",
      threat: "learns from size or time of a response whether another tenant has an ID",
      control: "both cases take the same path and have equal bodies",
      kind: "control and test",
      tests: {
        "server/test/threats/timing.test.ts": [
          "another tenant's run and an unknown one execute the same statement and take the same time",
        ],
        "server/test/access/isolation.test.ts": [
          "are refused everywhere, with the response of an unknown ID, and change nothing",
        ],
      },
    },
    {
      id: "T26",
      asset: "run tree",
      entry: "fields that name a parent",
      threat: "names another tenant's parent, or makes a cycle or a very deep tree",
      control: "a parent is set once from a run of the same tenant; a tree has at most 64 levels",
      kind: "control and test",
      tests: {
        "server/test/scenarios/library.test.ts": ["grows to 64 levels, and the 65th is refused"],
        "server/src/library/run-tree.test.ts": [
          "returns 10,000 runs, 64 levels deep, with less than a second of CPU time",
        ],
        "server/test/conformance/keys-and-tenants.test.ts": [
          "[RUN-039] create no run from another tenant's or an unknown run, in any field that accepts one",
        ],
      },
    },
    {
      id: "T27",
      asset: "runs",
      entry: "`Idempotency-Key`",
      threat: "uses a key of another tenant to read its run",
      control: "the key belongs to one tenant",
      kind: "control and test",
      tests: {
        "server/test/access/isolation.test.ts": [
          "an idempotency key belongs to one tenant: a request of another tenant does not replay its run",
        ],
        "server/src/idempotency/create-once.test.ts": [
          "is separate from a request of another tenant with the same key",
        ],
      },
    },
    {
      id: "T28",
      asset: "lists",
      entry: "cursors",
      threat: "changes a cursor, or uses it in another tenant or list",
      control: "cursors are signed and bound to tenant, list and filters",
      kind: "control and test",
      tests: {
        "server/src/access/cursors.test.ts": [
          "is refused for another list, with another secret, and after a day",
          "is refused if any one character is changed",
        ],
        "server/test/conformance/keys-and-tenants.test.ts": [
          "[RUN-028] accept no cursor that was changed, created for other filters, or another tenant's",
        ],
      },
    },
    {
      id: "T29",
      asset: "audit log",
      entry: "database",
      threat: "rewrites history",
      control: "the program's roles can only insert; digests and an HMAC reveal changed, removed and rebuilt entries",
      kind: "control and test",
      tests: {
        "server/src/db/access/audit-seal.test.ts": [
          "finds a changed entry",
          "finds a removed end whose checkpoints are removed too",
          "finds a rebuilt log whose checkpoints and head were rebuilt without the key",
        ],
        "server/src/doctor/check-records.test.ts": [
          "passes for a complete log, and names the tenant and the entry that was removed from its end",
        ],
        "server/src/db/row-level-security.test.ts": ["own nothing and pass no wall, and leave the log as it is"],
      },
    },
  ],
};
