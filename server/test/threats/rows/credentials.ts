// Threats to API keys, tokens and secrets.
import type { ThreatSection } from "../threat.ts";

export const credentials: ThreatSection = {
  title: "Credentials and tokens",
  threats: [
    {
      id: "T01",
      asset: "accounts",
      entry: "any route",
      threat: "guesses API keys",
      control:
        "keys have 238 random bits and a checksum that is verified before the database is asked; unknown keys are limited for each client address",
      kind: "control and test",
      tests: {
        "server/src/access/api-key.test.ts": ["is refused by its checksum in each of 100,000 wrong spellings"],
        "server/src/access/authentication.test.ts": [
          "looks up no further unknown keys of an address above the limit, and serves keys in use there",
          "looks up no key with a wrong checksum, and accepts no random key with a right one",
        ],
        "server/test/access/authentication.test.ts": ["is refused a thousand times without one database query"],
      },
    },
    {
      id: "T02",
      asset: "API keys",
      entry: "a copy of the database, the storage or the engine's data",
      threat: "reads keys at rest",
      control: "only a SHA-256 digest and four characters of a key are stored; a key is shown once",
      kind: "control and test",
      tests: {
        "server/test/threats/secrets.test.ts": [
          "no API key, token, provider key or setting is in rows, storage, the engine, logs, responses or messages",
        ],
        "server/src/access/api-key.test.ts": [
          "is stored as a digest and four characters that are not part of its checksum",
        ],
        "server/test/access/keys.test.ts": [
          "is shown once, works immediately, and is listed with its hint, last use and creator",
        ],
      },
    },
    {
      id: "T03",
      asset: "database",
      entry: "credential headers and all parameters",
      threat: "injects SQL before authentication",
      control:
        "a credential must match its format before a query; all statements have named parameters and are checked at build time",
      kind: "control and test",
      tests: {
        "server/test/access/authentication.test.ts": ["is refused a thousand times without one database query"],
        "server/test/conformance/fuzz.test.ts": [
          "rejects invalid requests with its own errors, 2,000 times, without a 5xx",
        ],
      },
    },
    {
      id: "T04",
      asset: "API keys",
      entry: "verification of a key",
      threat: "learns from response times whether a key exists or was revoked",
      control: "keys are looked up by their digest; unknown, revoked and expired keys take the same path",
      kind: "control and test",
      tests: {
        "server/test/threats/timing.test.ts": [
          "unknown, revoked and expired keys execute the same statement and take the same time",
          "a difference of a tenth in time is noticed, and none where there is none",
        ],
      },
    },
    {
      id: "T05",
      asset: "all secrets",
      entry: "logs, journal, error responses, webhook messages",
      threat: "finds a secret where it does not belong",
      control:
        "secrets are write-only and kept out of journaled values; errors of others are logged by an allow-list of fields",
      kind: "control and test",
      tests: {
        "server/test/threats/secrets.test.ts": [
          "no API key, token, provider key or setting is in rows, storage, the engine, logs, responses or messages",
        ],
        "server/test/webhooks/secret-leaks.test.ts": [
          "is nowhere: responses, rows, logs, messages, or files of the engine",
        ],
        "server/src/runs/attempt/record-request.test.ts": ["has no credential, callback URL or image"],
      },
    },
    {
      id: "T06",
      asset: "API keys",
      entry: "public repositories",
      threat: "uses a key that was published by mistake",
      control: "the operator revokes the key; its format has a prefix and a checksum, so secret scanners can match it",
      kind: "not applicable",
      reason: "A self-hosted installation has no partner programme of a code host that could report keys to it.",
      fact: { path: "server/src/http", matches: /secret[-_ ]?scanning|report(ed)?[-_]keys?/i },
    },
    {
      id: "T07",
      asset: "accounts",
      entry: "cached authentication",
      threat: "uses a key after it was revoked",
      control:
        "a revocation is published to every process; caches live at most 5 s; keys created with the key are revoked with it",
      kind: "control and test",
      tests: {
        "server/test/access/authentication.test.ts": ["is refused while it is in use, and stays so"],
        "server/src/access/expiring-cache.test.ts": [
          "shares one lookup between concurrent calls, and keeps a found value for 4 s from the start of its lookup",
        ],
        "server/src/access/key-tree.test.ts": [
          "ends its descendants and no other key, each with an event and an entry of the audit log",
          "leaves no child that was made or rotated at the same time",
        ],
      },
    },
    {
      id: "T08",
      asset: "permissions",
      entry: "operations on keys",
      threat: "a key gives itself or a new key more than it has",
      control:
        "a key manages keys only with the scope for it, never itself, and never above its own scopes, expiry and limits; " +
        "keys form a tree, in which a key counts against all keys above it and manages none of them",
      kind: "control and test",
      tests: {
        "server/test/access/keys.test.ts": [
          "creates keys only with its own or narrower scopes, expiry and limits",
          "expires, and can be changed by other keys but not by itself",
        ],
        "server/test/access/authentication.test.ts": ["scopes for managing keys"],
        "server/src/access/key-tree-limits.test.ts": [
          "of spending, from 64 parallel callers on two processes",
          "of open runs, from 64 parallel callers on two processes",
          "of requests per minute, from 64 parallel callers on two processes",
        ],
        "server/src/access/key-tree.test.ts": [
          "changes, rotates and revokes no key above it",
          "gets the replacement of its own descendants only",
          "cannot free its children from its limits by ending itself",
          "cannot be widened beyond a key above it, also not by a key without limits",
        ],
      },
    },
    {
      id: "T09",
      asset: "accounts",
      entry: "bearer tokens",
      threat: "presents an unsigned token, or one signed with a public key as a symmetric secret",
      control: "each issuer has a list of accepted asymmetric algorithms",
      kind: "control and test",
      tests: {
        "server/test/access/token-corpus.test.ts": [
          "rejects each of forty with one of two codes, and sends no request to unknown hosts",
          "accepts each of six as the tenant and the user of its issuer",
        ],
      },
    },
    {
      id: "T10",
      asset: "accounts, internal network",
      entry: "header of a bearer token",
      threat: "names a key by a path, a URL or SQL, or brings its own key",
      control: "keys come only from the configured issuer; key references in a token are ignored or refused",
      kind: "control and test",
      tests: {
        "server/test/access/token-corpus.test.ts": [
          "rejects each of forty with one of two codes, and sends no request to unknown hosts",
        ],
      },
    },
    {
      id: "T11",
      asset: "availability",
      entry: "header of a bearer token",
      threat: "makes Gesso request the issuer's keys again and again",
      control: "an unknown key ID causes at most one request in 30 s",
      kind: "control and test",
      tests: {
        "server/src/access/tokens/jwks.test.ts": [
          "requests keys at most three times a minute, however many unknown key IDs are named",
        ],
        "server/test/access/token-corpus.test.ts": [
          "requests the keys of an issuer at most once in 30 s, whatever key IDs tokens name",
        ],
      },
    },
    {
      id: "T12",
      asset: "availability",
      entry: "identity provider",
      threat: "the issuer's keys are unreachable or were rotated",
      control: "cached keys are used for up to 24 h; an unknown key ID causes a new request",
      kind: "control and test",
      tests: {
        "server/src/access/tokens/jwks.test.ts": [
          "uses cached keys for a day while the issuer is unreachable, and no longer",
          "accepts a new key within a minute and drops a removed one within 15 minutes",
        ],
      },
    },
    {
      id: "T13",
      asset: "accounts",
      entry: "bearer tokens",
      threat: "presents a token for another audience, from another issuer, expired, not yet valid, or of another type",
      control: "all claims are required and checked, with at most 60 s of clock skew",
      kind: "control and test",
      tests: {
        "server/test/access/token-corpus.test.ts": [
          "rejects each of forty with one of two codes, and sends no request to unknown hosts",
        ],
        "server/test/conformance/single-sign-on.test.ts": [
          "[AUT-013] with a wrong signature, issuer, audience or algorithm is refused",
        ],
      },
    },
    {
      id: "T14",
      asset: "tenants",
      entry: "bearer tokens",
      threat: "an issuer signs a token that claims a tenant of another issuer",
      control: "the operator maps issuers to tenants; a claim alone never selects a tenant of another issuer",
      kind: "control and test",
      tests: {
        "server/test/access/token-corpus.test.ts": [
          "rejects each of forty with one of two codes, and sends no request to unknown hosts",
          "accepts each of six as the tenant and the user of its issuer",
        ],
      },
    },
    {
      id: "T15",
      asset: "API keys",
      entry: "query string",
      threat: "a key in a URL ends in logs",
      control: "a request with a credential in its URL is refused",
      kind: "control and test",
      tests: {
        "server/test/access/authentication.test.ts": ["in a URL is rejected, whatever the headers contain"],
      },
    },
    {
      id: "T16",
      asset: "accounts",
      entry: "headers",
      threat: "sends two different credentials, so that a proxy and Gesso see different callers",
      control: "the request is refused",
      kind: "control and test",
      tests: {
        "server/test/access/authentication.test.ts": ["beside another that differs is refused, token or key"],
        "server/test/conformance/authentication.test.ts": ["[AUT-003] may not be two different ones"],
      },
    },
    {
      id: "T17",
      asset: "accounts",
      entry: "single sign-on",
      threat: "a removed member, or one who left a group, goes on with an old token",
      control:
        "membership and role are cached for at most 5 s; roles by claims are decided anew with every sign-in and new token, and an older token changes nothing; a token is refused 60 minutes after it was issued (`max_token_minutes`); a session ends after the hours of its issuer (`session_hours`)",
      kind: "control and test",
      tests: {
        "server/test/threats/single-sign-on.test.ts": [
          "a member whom another process removed or demoted loses access within 5 s",
          "a token is refused 60 minutes after it was issued, even if it is valid for a day",
        ],
        "server/src/access/sign-in/console-sessions.test.ts": [
          "a session that came from an identity provider ends after the hours of its issuer, however often it is used",
        ],
        "server/src/access/tokens/issuer-tokens.test.ts": [
          "do not join if the settings have no role for them",
          "refuses a token without it, before its user becomes a member",
        ],
        "server/test/conformance/single-sign-on.test.ts": [
          "of a member who was removed or is read-only is rejected with the next request",
        ],
        "server/src/access/sign-in/mapped-roles.test.ts": [
          "follows the claims of each new token, and is gone with them",
          "is not changed by an older token: neither one from before nor the same one once more",
          "does not bring back a member whom an owner has removed",
        ],
        "server/test/access/mapped-roles.test.ts": [
          "each sign-in decides anew, also for sessions and keys that the person already has",
        ],
        "server/test/access/back-channel-logout.test.ts": [
          "an account that the identity provider disables can sign in no more, and its sessions end when the provider says so",
          "an account that the identity provider disables without a logout keeps its session for the hours of the issuer at most",
        ],
      },
    },
  ],
};
