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
      tests: {
        "server/src/settings/config.test.ts": [
          "refuses bad configuration %i: %s is named, and its value is not printed",
        ],
      },
    },
    {
      id: "T117",
      asset: "host",
      entry: "containers",
      threat: "leaves or changes a container",
      control: "the operator runs Gesso without privileges",
      kind: "by configuration",
      reason:
        "The image runs as an unprivileged user with a read-only file system; `npm run drill -- stack` starts it so. Without it, do the same: Gesso writes only to `STORAGE_DIR`, `SPOOL_DIR` and the temporary folder.",
    },
    {
      id: "T118",
      asset: "internals",
      entry: "metrics, health, documentation",
      threat: "learns about the installation",
      control:
        "the public port has no metrics, debug pages, source files or source maps; health responses have no details",
      kind: "control and test",
      tests: {
        "server/test/scenarios/exposure.test.ts": [
          "answers 404 to %s",
          "says of its health only which checks passed, without addresses or versions",
        ],
      },
    },
    {
      id: "T119",
      asset: "database",
      entry: "the program's role",
      threat: "changes the schema",
      control: "migrations can run as another role than the program, which then changes no schema, policy or role",
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
      kind: "by configuration",
      reason:
        "The provider and PostgreSQL decide how long an old key or password works: create a second one, change the setting, and restart process by process. Gesso's own secret has two versions during a rotation.",
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
      control: "failures are logged with a level, a code and a request ID",
      kind: "by configuration",
      reason:
        "The operator collects the metrics and logs of Gesso and loads its alert rules. Failed requests (5xx), ended decoders, providers that fail and breaks of the audit log are logged as warnings or errors: alert on those too.",
      tests: {},
    },
  ],
};
