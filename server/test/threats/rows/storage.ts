// Threats to stored files and their URLs.
import type { ThreatSection } from "../threat.ts";

export const storage: ThreatSection = {
  title: "Storage and file URLs",
  threats: [
    {
      id: "T92",
      asset: "images",
      entry: "file URLs",
      threat: "guesses or changes a URL",
      control: "a URL has a signature over file and type",
      kind: "control and test",
      tests: {
        "server/src/files/storage/asset-urls.test.ts": [
          "no single changed bit verifies, in the signature or in the asset ID",
          "random changes of a URL never give a valid one",
        ],
        "server/test/scenarios/file-urls.test.ts": ["is refused with any change or addition"],
      },
    },
    {
      id: "T93",
      asset: "bucket",
      entry: "direct uploads",
      threat: "overwrites an object, or writes any size or type",
      control: "all uploads pass the API; no presigned upload exists",
      kind: "not applicable",
      reason: "Gesso issues no presigned uploads: every byte passes the API.",
      fact: { path: "server/src", matches: /s3-request-presigner|getSignedUrl|createPresignedPost/ },
    },
    {
      id: "T94",
      asset: "bucket",
      entry: "the storage endpoint",
      threat: "reads or lists objects without a credential",
      control: "Gesso creates buckets without a public policy",
      kind: "control and test",
      tests: {
        "server/src/files/storage/object-storage.test.ts": [
          "refuses requests without a credential: none reads, lists, writes or deletes",
        ],
      },
    },
    {
      id: "T95",
      asset: "images",
      entry: "referrers, logs",
      threat: "a file URL leaks",
      control: "`no-referrer` on every file response; URLs are not logged",
      kind: "control and test",
      tests: {
        "server/test/scenarios/file-urls.test.ts": [
          "has its exact type, and headers that allow a browser only to display it",
        ],
      },
    },
    {
      id: "T96",
      asset: "data of tenants",
      entry: "names of objects",
      threat: "a name is predictable or leaves its tenant",
      control: "the server makes the names",
      kind: "control and test",
      tests: {
        "server/test/scenarios/malformed-requests.test.ts": [
          "can have any file name: it is never a path, and no name is refused",
        ],
        "server/src/runs/upkeep/retention.test.ts": ["are only objects with a Gesso name"],
      },
    },
    {
      id: "T97",
      asset: "privacy",
      entry: "deleted runs",
      threat: "a URL works after deletion",
      control: "the state is checked at every request",
      kind: "control and test",
      tests: {
        "server/test/scenarios/file-urls.test.ts": [
          "is gone immediately, for every holder of its URL or etag and for revalidating caches",
        ],
      },
    },
    {
      id: "T98",
      asset: "privacy",
      entry: "shared caches",
      threat: "a cache serves a private image to others",
      control: "file responses are for private caches only",
      kind: "control and test",
      tests: {
        "server/test/scenarios/file-urls.test.ts": [
          "has its exact type, and headers that allow a browser only to display it",
        ],
      },
    },
  ],
};
