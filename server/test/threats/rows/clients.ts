// Threats through the other ways to call Gesso: agents, clients of another API, the command line, and operators.
import type { ThreatSection } from "../threat.ts";

const MCP = "server/test/mcp/runs.test.ts";
const REQUESTS = "server/src/idempotency/client-requests.test.ts";

export const clients: ThreatSection = {
  title: "Agents, other APIs and operators",
  threats: [
    {
      id: "T131",
      asset: "money, data of tenants",
      entry: "MCP",
      threat: "an instruction in a page or an image makes an agent spend money, or do what its user did not ask for",
      control:
        "an agent can do what its credential may and no more; access, money, the installation and the operator's operations need a scope that no wildcard includes; a run above the limit is confirmed by the person, with a state that cannot be forged, or by the model up to a second limit where the client cannot ask",
      kind: "control and test",
      tests: {
        [MCP]: [
          "[MCP-9] is confirmed by the user of a client that can ask",
          "[MCP-9] is not confirmed by a forged, foreign or exchanged state",
          "[MCP-9] is not confirmed by confirm_cost of a client that can ask, or above MCP_CONFIRM_COST_MAX",
          "[MCP-12] a run of another tenant does not exist",
          "[MCP-12] a credential without the scope of an operation cannot call it by a tool",
          "[MCP-12] makes no credential, pays nothing in and repairs nothing, unless its key names agents:write",
        ],
        "server/src/access/scopes.test.ts": [
          "needs a scope of its own for every operation of the operator, and every change of access or money",
          "gets by that scope nothing that its other scopes do not permit",
        ],
      },
    },
    {
      id: "T132",
      asset: "data of tenants, internal network",
      entry: "the OpenAI-compatible API",
      threat: "names images of other tenants or of private networks, or models that the key may not use",
      control: "its requests become ordinary operations with the same checks",
      kind: "control and test",
      tests: {
        "server/test/openai/clients.test.ts": [
          "[OAI-4] in private networks and of other tenants are refused",
          "[OAI-8] are those that the key may use",
        ],
      },
    },
    {
      id: "T133",
      asset: "images",
      entry: "repeated requests without a key of their own",
      threat: "a request joins the run of another caller and gets its images",
      control: "a request joins only an earlier one of the same caller with the same content, within 15 minutes",
      kind: "control and test",
      tests: {
        [REQUESTS]: [
          "a request joins nothing of another caller, another API, other content, or older than 15 minutes",
          "each lost request is joined once, so that two equal ones stay two",
        ],
      },
    },
    {
      id: "T134",
      asset: "prompts and images of tenants",
      entry: "operations of the operator, archive and exports",
      threat:
        "a credential that is not the operator's reads or changes the whole installation, or an operator reads content of tenants unnoticed",
      control:
        "the scopes of the operator must be granted by name; no wildcard and no role of a tenant includes them; content needs a further scope and a reason, which the audit logs of both sides get; changes need a recent login",
      kind: "control and test",
      tests: {
        "server/src/access/scopes.test.ts": [
          "of the operator must be named: no wildcard matches it",
          "only operations on tenants and on the whole installation are the operator's",
          "for content of tenants must be named: neither a wildcard nor the operator's scope includes it",
        ],
        "server/test/access/content-access.test.ts": [
          "are refused to a fresh key of the operator, which names the scope that is missing",
          "are refused without a reason",
          "leave an entry with the reason in the log of the tenant and in the operator's, and tenants see theirs",
        ],
        "server/src/access/sign-in/recent-login.test.ts": ["declares what it changes, and needs a recent login"],
      },
    },
    {
      id: "T135",
      asset: "images of other tenants",
      entry: "search by an image",
      threat: "finds out whether another tenant has a similar image",
      control: "fingerprints are compared within a tenant only",
      kind: "control and test",
      tests: {
        "server/src/db/files/fingerprints.test.ts": [
          "the nearest file of the tenant is found, no deleted one and none of another tenant",
        ],
        "server/test/scenarios/provenance.test.ts": [
          "tells another tenant who signed a file, but not which run made it",
        ],
      },
    },
    {
      id: "T136",
      asset: "API keys",
      entry: "the command line",
      threat: "another user of the machine reads the saved key, or it works long after a logout",
      control: "the file is readable by its owner only; a key from a login expires, and a logout revokes it",
      kind: "control and test",
      tests: {
        "cli/test/session.test.ts": [
          "[CLI-13] saves a key from standard input for its owner alone, uses it, and forgets it at logout",
        ],
        "server/test/access/cli-login.test.ts": [
          "signs in with the browser, saves a key that expires, and revokes it at logout",
        ],
      },
    },
  ],
};
