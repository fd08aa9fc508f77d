// Public entry point of the package for tests, benchmarks and chaos campaigns: starts and kills each component.
export { generateApiKey } from "./api-key.ts";
export { type SandboxOptions, type ServerOptions, startSandbox, startServer } from "./gesso-processes.ts";
export { type ManagedProcess, startProcess } from "./managed-process.ts";
export { freePort } from "./ports.ts";
export { type PostgresOptions, startPostgres } from "./postgres.ts";
export { chooseAccount, commandAs } from "./postgres-account.ts";
export { type RestateOptions, type RestateProcess, startRestate } from "./restate.ts";
export { type RestateCluster, type RestateClusterOptions, startRestateCluster } from "./restate-cluster.ts";
