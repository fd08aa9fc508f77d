// Threats among the visitors of one app: end users inside a tenant.
import type { ThreatSection } from "../threat.ts";

export const endUsers: ThreatSection = {
  title: "End users of a tenant",
  threats: [
    {
      id: "T137",
      asset: "images of end users",
      entry: "access tokens",
      threat: "a visitor of an app reads or changes runs of another visitor",
      control:
        "a token names its end user; every query of runs names it too, and row-level security repeats the condition under a role of its own",
      kind: "control and test",
      tests: {
        "server/test/access/end-users.test.ts": [
          "a run of another end user is refused in every operation like an unknown ID, in both directions, and stays",
          "a run of another end user is refused by row-level security alone, and by the statements alone",
          "without both, every reading operation returns the run: the test notices what is missing",
          "lists, counts, searches, streams and cancellations have the runs of the end user alone",
          "a file of another end user is no source, whatever its URL; one's own is",
          "a tree has the nodes of the end user alone, also below a run of another one",
          "through MCP, a token reads, lists and changes the runs of its end user alone",
        ],
        "server/src/db/end-user-isolation.test.ts": [
          "sees the rows of %s that belong to its runs, and no other",
          "changes and deletes no row of another end user",
          "inserts no run for another end user or for none, and moves none of its own",
          "every table with rows of runs hides those of other end users, except four without content",
        ],
        "sdk/test/visitors.test.ts": [
          "each page shows the image of its own visitor alone, and the token names it",
          "%s gets nothing of %s by lists, searches, counts, IDs and trees",
          "%s gets no file of %s by its ID, without or with a forged signature",
          "an event stream has the events of its own visitor alone, live and after a reconnect from the beginning",
        ],
      },
    },
    {
      id: "T138",
      asset: "images of end users",
      entry: "Idempotency-Key, re-sent requests",
      threat: "repeats the request of another credential of the tenant to get its run",
      control: "an idempotency key and a joined request belong to one credential and one end user",
      kind: "control and test",
      tests: {
        "server/src/idempotency/create-once.test.ts": [
          "of one credential stands for nothing to another one of the tenant",
        ],
        "server/src/idempotency/client-requests.test.ts": [
          "a request joins nothing of another caller, another API, other content, or older than 15 minutes",
          "a request joins nothing of another end user, and that of a renewed token or a rotated key",
        ],
        "server/test/openai/joining.test.ts": [
          "a request that says it is a retry gets no run of another end user, nor that of the key of its token",
        ],
        "server/test/access/end-users.test.ts": [
          "an idempotency key belongs to one end user of one API key, and outlives a renewed token and a rotated key",
        ],
      },
    },
    {
      id: "T139",
      asset: "administration",
      entry: "access tokens",
      threat: "a visitor reads the audit log, members, keys or usage with a token",
      control:
        "the scopes of tokens are a list; what is not named there is refused, and removed from tokens of earlier versions",
      kind: "control and test",
      tests: {
        "server/src/access/tokens/access-tokens.test.ts": [
          "grants no %s, whatever the key may do",
          "of an earlier version keeps no scope that tokens cannot have, and sees what was made with it alone",
        ],
        "server/test/conformance/keys-and-tenants.test.ts": [
          "is valid for its origin only, cannot create keys or tokens, and expires with its key",
        ],
      },
    },
  ],
};
