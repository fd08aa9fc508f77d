// The grouped commands of the root `package.json`: `npm run drill -- patroni`. Each has the program that it starts and
// one line about what it shows; without a name, a group prints these lines.

export type Command = {
  about: string;
  /** A program that runs in the same process, or a line for the shell, to which the parameters are appended. */
  program?: string;
  shell?: string;
};

export type Group = {
  about: string;
  /** What the group does without a name. A group without a default prints its commands. */
  default?: string;
  commands: Record<string, Command>;
};

export const GROUPS: Record<string, Group> = {
  drill: {
    about: "Losses of whole parts under load. All but monitoring and stack take --short, the form of CI.",
    commands: {
      engine: {
        program: "server/test/failover/engine.ts",
        about:
          "any one of three Restate nodes may be killed without a long stall; with two lost, runs wait and continue",
      },
      failover: {
        program: "server/test/failover/main.ts",
        about:
          "no accepted run is lost or submitted twice when the primary of PostgreSQL is killed and its standby promoted",
      },
      monitoring: {
        program: "scripts/monitoring/drill.ts",
        about:
          "a Prometheus watches a loaded installation: every expression of the dashboards has an answer, an alert fires for a kill and resolves; needs prometheus and prometheus-postgres-exporter",
      },
      network: {
        program: "server/test/failover/network.ts",
        about:
          "nothing is lost or submitted twice while packets are dropped for 30 s; --only blackhole: of PostgreSQL, --only partition: between engine and worker; needs root and iptables",
      },
      patroni: {
        program: "server/test/failover/patroni.ts",
        about:
          "like failover, with Patroni, etcd and HAProxy, and a planned switchover; installs what is missing with apt-get and pip",
      },
      pgbouncer: {
        program: "server/test/failover/pgbouncer.ts",
        about:
          "the same promises through PgBouncer in transaction mode, which is killed; statements have their own role and tenant, and notifications arrive",
      },
      restore: {
        program: "server/test/restore/main.ts",
        about:
          "after a restore of PostgreSQL to a point in time, every run accepted before it completes, the ledger balances, and only later jobs are submitted again",
      },
      retention: {
        program: "server/test/archive/main.ts",
        about:
          "a year of history is archived day by day, with kills between the file and the deletion: no run is lost or archived twice, and the ledger keeps its sums",
      },
      stack: {
        program: "deploy/drill/main.ts",
        about: "the image is built, the Compose stack starts, makes an image and keeps its promises about isolation",
      },
      upgrade: {
        program: "server/test/upgrade/main.ts",
        about: "runs in progress survive a rolling upgrade from the previous version and a rollback",
      },
    },
  },

  bench: {
    about: "Measures speed and cost. Run one on a machine that does nothing else.",
    default: "runs",
    commands: {
      runs: {
        program: "server/test/bench/main.ts",
        about: "CPU per run, next to a bare Restate workflow; the default",
      },
      admission: {
        program: "server/test/bench/admission.ts",
        about: "the cost of limits, ledger and row-level security per accepted run",
      },
      age: {
        program: "server/test/bench/age.ts",
        about: "whether 200 runs take as long at 98 and 400 days of history as at 8",
      },
      console: {
        program: "console/test/bench/main.ts",
        about:
          "how long a person waits for the console, beside the bounds of its criteria and the last figures; --only gallery --runs 1000000 for one part or more runs",
      },
      gateways: {
        program: "server/test/bench/gateways.ts",
        about:
          "the same OpenAI image request through Portkey's gateway, LiteLLM's proxy and Gesso; installs the first two in a temporary folder; --only portkey,gesso for some",
      },
      history: {
        program: "server/test/bench/history.ts",
        about:
          "whether runs and reads cost the same after 10,000, 100,000 and 1,000,000 finished runs; --runs 10000,10000000 --days 8,400 for other sizes",
      },
      lists: {
        program: "server/test/bench/lists.ts",
        about:
          "lists, searches, counts and trees of a tenant with 1,000,000 runs: p99 below 100 ms each; --runs N for fewer",
      },
      attribution: {
        program: "server/test/bench/attribution.ts",
        about:
          "a spending limit for each of 100,000 end users: the CPU of accepting a run (at most 1.1 times), 64 parallel callers of one, and usage by customer over a million runs",
      },
      models: {
        program: "server/test/bench/imported-models.ts",
        about:
          "the search among 2,000 imported models (p99 below 50 ms), and what the import of hostile documents of 5 MB does to other requests; memory of a process that uses all, and the CPU of accepting their runs",
      },
      observability: {
        program: "server/test/bench/observability.ts",
        about: "CPU per run of metrics and traces, compared with neither",
      },
      outputs: {
        program: "server/test/bench/large-outputs.ts",
        about:
          "videos of 1 GB are stored byte for byte and paid once, also after a kill; memory of a worker with eight at once; --megabytes 100 --count 4 for less, --s3 in a bucket",
      },
      provenance: {
        program: "server/test/bench/provenance.ts",
        about: "time and bytes of a mark, a signature and a verification per image; runs per second of each mode",
      },
      soak: {
        program: "server/test/bench/soak.ts",
        about:
          "whether memory, connections, dead rows and disks stay flat for a scaled day at 70 % of the measured rate, with metrics, archive and backups; --minutes 60 --rate 50",
      },
      "soft-binding": {
        program: "server/test/bench/soft-binding.ts",
        about:
          "how many changed copies soft binding finds on 2,100 synthetic images, and how often it takes another image for a copy; --images N for fewer",
      },
      streams: {
        program: "server/test/bench/streams.ts",
        about: "latency of a thousand event streams, and that reconnecting clients miss nothing",
      },
    },
  },

  proof: {
    about: "Attacks the promises: kills, faults, races, floods and random input. Most take --short.",
    commands: {
      "any-model": {
        program: "server/test/model-schemas/main.ts",
        about:
          "100 generated inputs of every endpoint of fal become the body of the request as they are, and 100 that are wrong in one place name the place; 5 of each are sent through a server to the fake; --only validation or socket for one",
      },
      attacks: {
        program: "server/test/load/attacks.ts",
        about:
          "one tenant's wide, deep, huge and slow requests, decoder bombs, unknown keys and large files refuse no run of another tenant; --only NAME runs one, --profile FOLDER writes a CPU profile",
      },
      chaos: {
        program: "server/test/chaos/main.ts",
        about:
          "runs end once, nothing is paid twice and the ledger balances while processes are killed; --only NAME runs one campaign (faults, outages, signing, …), --at NAME one crash point, --seed N repeats the random choices",
      },
      chart: {
        program: "scripts/check-chart.ts",
        about: "the Helm chart renders with every values file, and its fields exist in Kubernetes' types; needs go",
      },
      comfyui: {
        program: "server/test/real-comfyui/check.ts",
        about: "the adapter and the whole service against a real ComfyUI",
      },
      fairness: {
        program: "server/test/fairness/main.ts",
        about: "one tenant's flood doesn't hold up another; weights, rate limits and load shedding hold",
      },
      "fuzz-api": {
        program: "server/test/fuzz/api.ts",
        about:
          "no request of 200,000 generated from the contract gets a 5xx or an error without its standard body; reports responses after more than a second",
      },
      "fuzz-images": {
        program: "server/test/fuzz/image-decoder.ts",
        about: "damaged images crash nothing and are refused; --files 2000, or --minutes 60",
      },
      "identity-providers": {
        program: "server/test/real-identity-providers/check.ts",
        about:
          "sign-in at a real Keycloak and a real Dex: roles by groups, refusals, disabled accounts, logout; needs Java 17 and go, downloads both; --only keycloak or dex for one",
      },
      "listen-sleep": {
        shell: "LISTEN_SLEEP_SECONDS=60 vitest run cli/src/commands/webhooks.test.ts -t asleep",
        about: "gesso webhooks listen misses nothing while the machine sleeps for a minute",
      },
      money: {
        program: "server/test/money/main.ts",
        about:
          "a balance for ten runs pays for ten of 1,000 requests, 200 random inputs cost their estimate, 300 cancellations are charged rightly, and the ledger balances",
      },
      mutation: {
        program: "server/test/mutation.ts",
        about: "tests notice each small change to a file; slow, so name one: --mutate server/src/storage/asset-urls.ts",
      },
      plants: {
        program: "server/test/plants/main.ts",
        about:
          "the tests notice planted faults: each patch of server/test/plants is applied to a copy, and its command must fail; --only NAME,NAME tries some",
      },
      slowloris: {
        program: "server/test/load/slowloris.ts",
        about: "a thousand slow uploads are cut off, and others don't notice; --senders 3000 for more",
      },
      ssrf: {
        shell: "SSRF_OFFSET=all vitest run server/test/ssrf/http-api.test.ts",
        about:
          "every image field and every tool refuses each of 167 invalid URLs; npm test sends each URL to one of them",
      },
      webhooks: {
        program: "server/test/webhooks/campaign/main.ts",
        about: "webhooks arrive while their senders are killed; the retry schedule holds",
      },
    },
  },

  release: {
    about: "Builds and checks what a release publishes, and its version. Publishes nothing.",
    default: "build",
    commands: {
      build: {
        program: "scripts/release.ts",
        about:
          "packages, SBOM, changes and checksums in dist/release; the default; --names asks whether the names are free",
      },
      package: { program: "scripts/build-package.ts", about: "the package alone, in dist/package" },
      try: {
        program: "scripts/try-package.ts",
        about:
          "installs the built package into an empty folder, starts gesso dev and makes an image; --matrix with all versions of Node.js",
      },
      "next-version": { program: "scripts/next-version.ts", about: "makes the next version from the changesets" },
      "set-version": { program: "scripts/set-version.ts", about: "sets a given version everywhere: 0.2.0-rc.1" },
      sbom: { program: "scripts/sbom.ts", about: "writes the CycloneDX documents and checks licences" },
      advisories: {
        program: "scripts/audit-dependencies.ts",
        about: "asks the registry for known vulnerabilities of all locked packages; --required fails without an answer",
      },
    },
  },

  models: {
    about: "The local models, which are no dependencies.",
    commands: {
      install: {
        program: "scripts/install-models.ts",
        about: "puts the models and their runtime into .gesso/models (150 MB)",
      },
      check: { program: "scripts/check-models.ts", about: "asks every installed model for real work and measures it" },
    },
  },

  images: {
    about: "Makes the images and recordings of the documentation again.",
    commands: {
      guide: { program: "scripts/pictures.ts", about: "the images of the guide, in docs/pictures" },
      console: {
        shell: "npm run --silent build && node scripts/console-pictures.ts",
        about: "the screenshots of the console, in docs/pictures",
      },
      recordings: { program: "scripts/record-terminal.ts", about: "the terminal sessions of the quick start" },
      showcase: { program: "scripts/showcase.ts", about: "draws every operation once, with the sandbox, on one sheet" },
    },
  },
};

/** What is wrong with a mention such as `npm run drill -- patroni`; undefined if it starts a command. */
export function findMistake(script: string, name: string | undefined, scripts: string[]): string | undefined {
  if (!scripts.includes(script)) return `there is no script ${script}`;
  const group = GROUPS[script];
  if (group === undefined || name === undefined) return undefined;
  return Object.hasOwn(group.commands, name) ? undefined : `${script} has no command ${name}`;
}
