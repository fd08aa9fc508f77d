// All campaigns: commands that attack real processes and compare all records afterwards. Each names the folders that
// it guards. The gate runs one of the rotation and those whose guarded paths have changed; `npm run campaigns --
// --all` runs all of them.

/** Campaigns with a short form take a seed. */
export const withSeed = (command: string[], seed: string): string[] =>
  command.includes("--short") ? [...command, "--seed", seed] : command;

export type Campaign = {
  name: string;
  command: string[];
  /** Folders and files whose faults this campaign would see. */
  guards: string[];
  /**
   * `rotation`: the commit decides which one the gate runs. `changed`: the gate runs it if a guarded path has changed.
   * `release`: only with `--all`, before a release and by the scheduled workflow.
   */
  when: "rotation" | "changed" | "release";
  limitSeconds: number;
};

const node = (path: string, ...parameters: string[]) => ["npx", "node", path, ...parameters];
const chaos = (...parameters: string[]) => node("server/test/chaos/main.ts", "--short", ...parameters);

/** What a run is made of, from its acceptance to its stored files. */
const RUN_FOLDERS = [
  ...["server/src/runs", "server/src/engine", "server/src/db", "server/src/providers", "server/src/files/storage"],
  ...["server/src/contract", "server/src/operations", "server/src/idempotency", "server/src/library"],
  ...["server/src/money", "server/src/prices", "server/src/runtime"],
  ...["sandbox/src", "server/migrations"],
];

export const CAMPAIGNS: Campaign[] = [
  {
    name: "random kills",
    command: chaos("--only", "random"),
    guards: [...RUN_FOLDERS, "server/src/main.ts", "server/src/roles", "server/src/compose.ts", "dev/src"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "kills at crash points",
    command: chaos("--only", "aimed"),
    guards: RUN_FOLDERS,
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "kills at vendors",
    command: chaos("--only", "vendors"),
    guards: [...RUN_FOLDERS, "server/src/catalogue"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "injected faults",
    command: chaos("--only", "faults"),
    guards: [...RUN_FOLDERS, "server/src/outbound"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "outages and a poison run",
    command: chaos("--only", "outages"),
    guards: [...RUN_FOLDERS, "server/src/outbound"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "deadlines",
    command: chaos("--only", "deadline"),
    guards: RUN_FOLDERS,
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "lost engine journal",
    command: chaos("--only", "memory"),
    guards: ["server/src/engine", "server/src/admin", "server/src/runs"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "loss of an engine node",
    command: chaos("--only", "cluster"),
    guards: ["server/src/engine"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "failing vendor",
    command: chaos("--only", "breaker"),
    guards: ["server/src/providers", "server/src/runs"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "signed outputs",
    command: chaos("--only", "signing"),
    guards: ["server/src/files/provenance", "server/src/files/storage"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "webhooks",
    command: node("server/test/webhooks/campaign/main.ts", "--short"),
    guards: ["server/src/webhooks", "server/src/events", "server/src/outbound", "server/src/db"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "upgrade and rollback",
    command: node("server/test/upgrade/main.ts", "--short"),
    guards: ["server/migrations", "server/src/db", "server/src/engine", "server/src/roles"],
    when: "rotation",
    limitSeconds: 300,
  },
  {
    name: "fairness and rate limits",
    command: node("server/test/fairness/main.ts", "--short"),
    guards: ["server/src/access", "server/src/http", "server/src/engine", "server/src/db"],
    when: "rotation",
    limitSeconds: 400,
  },
  {
    name: "attacks",
    command: node("server/test/load/attacks.ts", "--short"),
    guards: [
      ...["server/src/http", "server/src/access", "server/src/files/formats", "server/src/files/images"],
      "server/src/faults",
    ],
    when: "rotation",
    limitSeconds: 400,
  },
  {
    name: "image fuzzing",
    command: node("server/test/fuzz/image-decoder.ts", "--files", "2000"),
    guards: ["server/src/files/formats", "server/src/files/images", "package-lock.json"],
    when: "changed",
    limitSeconds: 300,
  },
  {
    name: "URLs in every field",
    command: ["npm", "run", "--silent", "proof", "--", "ssrf"],
    guards: ["server/src/outbound", "server/src/operations", "server/src/http/mcp"],
    when: "changed",
    limitSeconds: 400,
  },
  {
    name: "client on every runtime",
    command: ["npm", "run", "--silent", "-w", "sdk", "test:matrix"],
    guards: ["sdk", "api/openapi.json", "package-lock.json"],
    when: "changed",
    limitSeconds: 300,
  },
  {
    name: "chart",
    command: node("scripts/check-chart.ts"),
    guards: ["deploy/chart", "scripts/chart", "scripts/check-chart.ts", "server/src/settings"],
    when: "changed",
    limitSeconds: 900,
  },
  {
    name: "image and stack",
    command: node("deploy/drill/main.ts"),
    guards: ["deploy", "scripts/release", "package-lock.json", "server/src/roles", "server/src/settings", "cli/bin"],
    when: "changed",
    limitSeconds: 1200,
  },
  {
    name: "API fuzzing",
    command: node("server/test/fuzz/api.ts"),
    guards: [
      "server/src/http",
      "server/src/operations",
      "server/src/contract",
      "server/src/models",
      "server/src/access",
      "server/src/library",
      "server/src/faults",
    ],
    when: "release",
    limitSeconds: 1800,
  },
  {
    name: "any model",
    command: node("server/test/model-schemas/main.ts", "--short"),
    guards: ["server/src/models", "server/src/contract", "server/src/providers"],
    when: "release",
    limitSeconds: 1800,
  },
  {
    name: "money",
    command: node("server/test/money/main.ts"),
    guards: ["server/src/runs", "server/src/db", "server/src/access", "server/src/money", "server/src/prices"],
    when: "release",
    limitSeconds: 1800,
  },
  {
    name: "monitoring",
    command: node("scripts/monitoring/drill.ts"),
    guards: ["server/src/observe", "deploy/monitoring"],
    when: "release",
    limitSeconds: 1800,
  },
  {
    name: "failover of the database",
    command: node("server/test/failover/main.ts", "--short"),
    guards: ["server/src/db", "server/src/events", "server/src/doctor"],
    when: "release",
    limitSeconds: 1800,
  },
  {
    name: "engine",
    command: node("server/test/failover/engine.ts", "--short"),
    guards: ["server/src/engine"],
    when: "release",
    limitSeconds: 1800,
  },
  {
    name: "network",
    command: node("server/test/failover/network.ts", "--short"),
    guards: ["server/src/db", "server/src/engine", "server/src/outbound"],
    when: "release",
    limitSeconds: 1800,
  },
  {
    name: "restore",
    command: node("server/test/restore/main.ts", "--short"),
    guards: ["server/src/admin", "server/src/db", "server/src/files/storage"],
    when: "release",
    limitSeconds: 1800,
  },
  {
    name: "retention",
    command: node("server/test/archive/main.ts", "--short"),
    guards: ["server/src/runs", "server/src/db"],
    when: "release",
    limitSeconds: 1800,
  },
  {
    name: "planted faults",
    command: node("server/test/plants/main.ts"),
    guards: ["server/test/plants"],
    when: "release",
    limitSeconds: 7200,
  },
];
