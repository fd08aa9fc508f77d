// Threats to a Gesso on the machine of a developer, which can do what a server cannot.
import type { ThreatSection } from "../threat.ts";

const CONNECT = "server/test/access/connect-provider.test.ts";

export const development: ThreatSection = {
  title: "Development",
  threats: [
    {
      id: "T140",
      asset: "keys of providers",
      entry: "console of `gesso dev`",
      threat: "a key that is entered in the console is read, stays in the browser, or is written on a server",
      control:
        "only an operator with a recent login may enter one; the provider has to accept it; it goes into a file with mode 0600 and is in no response, log, trace or audit entry; a server that other machines can reach does not start with the setting, and refuses the request without it",
      kind: "control and test",
      tests: {
        [CONNECT]: [
          "gives a key that the provider accepted to gesso dev, and has it in no response and no audit entry",
          "saves nothing for %s, and does not repeat it",
          "is refused on a server that gesso dev did not start, with the lines to add and no request to the provider",
        ],
        "server/src/access/sign-in/recent-login.test.ts": ["declares what it changes, and needs a recent login"],
        "console/test/connect-provider.test.ts": [
          "a key is checked, shown nowhere and used at once: the first image comes from the provider",
        ],
      },
    },
  ],
};
