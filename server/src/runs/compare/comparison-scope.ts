// What every comparison gets: the services, the period, and the list of findings that it adds to.
import type { Services } from "../services.ts";
import type { FindingList } from "./finding-list.ts";

export type ComparisonDependencies = Pick<Services, "database" | "assets" | "providers" | "clock" | "log"> & {
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
