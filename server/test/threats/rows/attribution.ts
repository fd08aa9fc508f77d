// Threats to what costs are attributed to: customers, end users and tags.
import type { ThreatSection } from "../threat.ts";

export const attribution: ThreatSection = {
  title: "Attribution of costs",
  threats: [
    {
      id: "T141",
      asset: "money",
      entry: "access tokens",
      threat: "a visitor names another customer or tag, so that its limit is used up and its invoice grows",
      control: "the customer and the tags of a token are fixed when it is issued; naming others is refused",
      kind: "control and test",
      tests: {
        "server/src/runs/accept/attribution.test.ts": [
          "of an access token is that of the token, and naming another one is refused",
        ],
        "server/src/db/money/attributed-budgets.test.ts": [
          "of a customer counts its runs and no others, and says whose it is when it refuses one",
        ],
      },
    },
  ],
};
