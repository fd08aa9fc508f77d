// The face of the package for tests, benches and kill campaigns: each part that Gesso stands on, to start and to kill.
export { generateApiKey } from "./api-key.ts";
export { type SandboxOptions, type ServerOptions, startSandbox, startServer } from "./gesso-processes.ts";
export type { ManagedProcess } from "./managed-process.ts";
export { freePort } from "./ports.ts";
export { type PostgresOptions, startPostgres } from "./postgres.ts";
export { type RestateOptions, type RestateProcess, startRestate } from "./restate.ts";
export { type RestateCluster, type RestateClusterOptions, startRestateCluster } from "./restate-cluster.ts";
