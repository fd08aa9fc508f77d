// What every comparison gets: the services, the period, and the list of findings that it adds to.
import type { Database } from "../../../db/connect.ts";
import type { AssetStore } from "../../../files/storage/asset-store.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { ProviderRegistry } from "../../offers/provider-registry.ts";
import type { FindingList } from "./finding-list.ts";

export type ComparisonDependencies = Pick<Runtime, "clock" | "log"> & {
  database: Database;
  assets: Pick<AssetStore, "storage">;
  providers: ProviderRegistry;
  deadlineSeconds: number;
};

/** `openSince`: runs that were open at `since` were accepted after this time. */
export type ComparisonScope = {
  since: Date;
  openSince: Date;
  after: string | undefined;
  findings: FindingList;
  isOver(): boolean;
};
