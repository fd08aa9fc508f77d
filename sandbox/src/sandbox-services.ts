// The services of a running sandbox, as the routes use them.
import type { HttpBindings } from "@hono/node-server";
import type { FaultInjector } from "./fault-injection.ts";
import type { InputFiles } from "./inputs.ts";
import type { JobStore } from "./job-store.ts";
import type { OutputCache } from "./output-cache.ts";
import type { JobRunner } from "./runner.ts";

export type SandboxServices = {
  jobs: JobStore;
  outputs: OutputCache;
  faults: FaultInjector;
  inputs: InputFiles;
  runner: JobRunner;
  url: string;
  key: string;
  /** Of a square image whose size is not requested. */
  side: number;
  /** Aborted when the sandbox closes: nothing may be written after that. */
  closing: AbortSignal;
};

export type Bindings = { Bindings: HttpBindings };
