// The face of the package for tests, benches and kill campaigns: each part that Gesso stands on, to start and to kill.
export { makeApiKey } from "./api-key.ts";
export type { Part } from "./part.ts";
export { freePort } from "./ports.ts";
export { type PostgresOptions, startPostgres } from "./postgres.ts";
export { type SandboxOptions, type ServerOptions, startSandbox, startServer } from "./programs.ts";
export { type RestateOptions, type RestatePart, startRestate } from "./restate.ts";
export { type RestateCluster, type RestateClusterOptions, startRestateCluster } from "./restate-cluster.ts";
