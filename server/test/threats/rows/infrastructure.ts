// Threats to the engine, the database and the host.
import type { ThreatSection } from "../threat.ts";

export const infrastructure: ThreatSection = {
  title: "Engine and infrastructure",
  threats: [
    {
      id: "T115",
      asset: "runs",
      entry: "ports of Restate, endpoint of workers",
      threat: "controls runs without authentication",
      control: "workers verify the engine's signature; the operator keeps the engine's ports private",
      kind: "control and test",
      tests: {
        "server/test/scenarios/worker-identity.test.ts": [
          "executes runs for the engine and refuses requests without its signature",
        ],
      },
    },
    {
      id: "T116",
      asset: "everything",
      entry: "defaults",
      threat: "uses default or short secrets",
      control: "the program does not start with them",
      kind: "control and test",
      tests: {},
    },
    {
      id: "T117",
      asset: "host",
      entry: "containers",
      threat: "leaves or changes a container",
      control: "the operator runs Gesso without privileges",
      kind: "control and test",
      tests: {},
    },
    {
      id: "T118",
      asset: "internals",
      entry: "metrics, health, documentation",
      threat: "learns about the installation",
      control: "health responses have no details",
      kind: "control and test",
      tests: {},
    },
    {
      id: "T119",
      asset: "database",
      entry: "the program's role",
      threat: "changes the schema",
      control: "migrations can run as another role than the program",
      kind: "control and test",
      tests: {
        "server/src/db/row-level-security.test.ts": ["migrates, and lets in another who may do nothing but work"],
      },
    },
    {
      id: "T120",
      asset: "secrets",
      entry: "rotation",
      threat: "a rotation causes failures, or an old secret goes on working",
      control: "two secrets are accepted during a rotation",
      kind: "control and test",
      tests: {
        "server/test/scenarios/secret-rotation.test.ts": [
          "keeps file URLs, tokens, cursors and webhook secrets valid, until the old secret is removed",
        ],
      },
    },
    {
      id: "T121",
      asset: "detection",
      entry: "logs",
      threat: "an attack is not noticed",
      control: "security events are logged and counted",
      kind: "control and test",
      tests: {},
    },
  ],
};
