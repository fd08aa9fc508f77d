// For each error code: when it happens and how to fix it. The reference page of errors is generated from these texts.
// Here are the errors of a request itself: its credential, what it names, and its body; `run-guidance.ts` has the rest.
import type { FaultCode, FaultGuidance } from "./codes.ts";
import { runGuidance } from "./run-guidance.ts";

const requestGuidance = {
  authentication_required: {
    when: "The request has neither an `Authorization` header nor an `X-API-Key` header.",
    fix: "Send `Authorization: Bearer <key or token>`. The client reads the key from `GESSO_API_KEY`.",
  },
  invalid_api_key: {
    when: "The key is misspelt, expired or revoked, or it belongs to another installation.",
    fix: "Check the key for typing errors, or create a new one with `keys.create`.",
  },
  invalid_token: {
    when:
      "The token's signature, issuer, audience or origin does not match. `details.reason` is `origin` if the token " +
      "is bound to another web origin.",
    fix: "Request a new token. For tokens of an identity provider, compare its settings with `OIDC_ISSUERS`.",
  },
  token_expired: {
    when: "The access token is past its expiry time.",
    fix: "Request a new token. Pass a function as credential to the client, and it refreshes tokens by itself.",
  },
  session_required: {
    when:
      "A request of the console has no session cookie, or its session has ended: by signing out, after 12 hours without a " +
      "request, after 7 days, or because its key was revoked or its member was removed.",
    fix: "Sign in to the console again. The cookie is no credential for `/api/v1`: send a key or a token there.",
  },
  sign_in_code_invalid: {
    when: "The code of a sign-in link was exchanged before, is older than 60 seconds, or belongs to another installation.",
    fix: "Run `gesso console` for a new link, or sign in with an API key.",
  },
  sign_in_failed: {
    when:
      "The identity provider refused the login, or its response does not match the login that this browser started. " +
      "`details.reason` is `access_denied`, `identity_provider`, `not_started_here` or `insecure_url`.",
    fix:
      "Open the sign-in page again and log in within 10 minutes, at the URL in `PUBLIC_URL`. Operators: compare `console` " +
      "in `OIDC_ISSUERS` with the client at the identity provider, and read the log for the cause.",
  },
  cross_site_request: {
    when:
      "A request with the path of the console comes from a page of another origin, from a link, or without the header " +
      "`X-Gesso-Console: 1`.",
    fix: "Programs call `/api/v1` with an API key. Open the console at the URL in `PUBLIC_URL`.",
  },
  login_too_old: {
    when:
      "A session of the console changes access, money or the installation, such as keys, credit or a paused provider, and " +
      "its last login was more than 10 minutes ago. `details.last_login_at` is null if the identity provider did not say when.",
    fix: "Sign in again with a key or at the identity provider, then repeat the request. API keys are not affected.",
  },
  insufficient_scope: {
    when: "The key or token does not cover the operation. `details.required` has the missing scope or scopes.",
    fix: "Use a key with that scope, or create one. A key can only create keys with the same or narrower scopes.",
  },
  permission_denied: {
    when:
      "The role of the user, or the kind of credential, does not permit the operation. `details` has `role`, " +
      "`reason`, `limits` or `expires_at`.",
    fix: "Ask an owner of the tenant, or use another credential. Tokens cannot create keys or tokens.",
  },
  tenant_suspended: {
    when: "The operator suspended the tenant. All its credentials are refused, and its runs and webhooks wait.",
    fix: "Contact the operator of the installation.",
  },
  storage_quota_exceeded: {
    when:
      "The tenant has stored as many bytes or files as it may, or the upload would exceed the quota. `details.limits` " +
      "shows the quota, and `usage.get` what is stored. Runs that were already accepted still store their results.",
    fix:
      "Delete runs that you no longer need with `runs.delete`, or ask the operator. Operators change the quota with " +
      "`limits.storage_bytes` and `limits.stored_files` of the tenant, or `TENANT_STORAGE_BYTES` and " +
      "`TENANT_STORED_FILES`.",
  },
  ambiguous_credentials: {
    when: "`Authorization` and `X-API-Key` carry different credentials.",
    fix: "Send one of the two headers.",
  },
  route_not_found: {
    when: "No endpoint has this path, or the key, member, tenant, webhook or delivery does not exist in your tenant.",
    fix: "Compare the path with the API reference, and check the ID.",
  },
  method_not_allowed: {
    when: "The path exists, but not with this HTTP method.",
    fix: "Use a method from the `Allow` header of the response.",
  },
  run_not_found: {
    when: "No run has this ID, or the run belongs to another tenant or user.",
    fix: "Check the ID, and use a key of the tenant that created the run.",
  },
  run_deleted: {
    when: "The run existed and was deleted. Its inputs, outputs and files are removed.",
    fix: "Create the run again if you still have its inputs.",
  },
  model_not_found: {
    when: "The `model_id` or LoRA is not registered, is disabled, or is not shared with you.",
    fix: "List the models that you can use with `models.list`, or ask the owner of the model for a grant.",
  },
  prompt_not_found: {
    when: "No prompt has this ID in your tenant, or the version does not exist.",
    fix: "List the prompts with `prompts.list`.",
  },
  asset_not_found: {
    when: "The file URL is incomplete, or its signature does not match.",
    fix: "Use the complete URL from the run, with its query string.",
  },
  asset_expired: {
    when: "The file was removed after the retention time, or its run was deleted.",
    fix: "Create the image again. Operators change the retention time with `RETENTION_DAYS` (default: 30 days).",
  },
  invalid_json: {
    when:
      "The body is not JSON, is not an object, is nested deeper than 32 levels or has more than 20,000 values. " +
      "`details.reason` names the last three cases.",
    fix: "Send one JSON object in UTF-8 with `Content-Type: application/json`.",
  },
  validation_error: {
    when:
      "At least one field is missing, unknown or out of range. The response lists the first 20; if there are more, " +
      "`details.error_count` has their number. The client raises most of these errors before it sends the request.",
    fix:
      "Correct each entry of `details.errors`: `path` is a JSON Pointer, `code` names the rule. If the server is " +
      "newer than your client and accepts a field that the client refuses, pass `validate: false` to the client.",
  },
  unsupported_parameter: {
    when:
      "The model does not use a field, and you sent `Prefer: handling=strict`; or you sent another value for a " +
      "field that the model fixes.",
    fix:
      "Remove the fields in `details.errors`, or choose another model. Without strict handling, Gesso ignores most " +
      "of them with a warning.",
  },
  idempotency_key_invalid: {
    when: "The `Idempotency-Key` header is empty, longer than 255 characters, has other characters, or is sent twice.",
    fix: "Send one key, for example a UUID.",
  },
  idempotency_in_progress: {
    when: "The first request with this key has not been accepted yet.",
    fix: "Retry after `Retry-After`. The client does so by itself.",
  },
  idempotency_key_reused: {
    when:
      "The key exists, but the operation or the body differs. Only `sync` may differ between repeats. Gesso stores " +
      "keys for 7 days.",
    fix:
      "Use one key per logical request, for example your order ID. If you changed the request on purpose, use a " +
      "new key.",
  },
  invalid_cursor: {
    when: "The cursor is older than a day, was changed, or comes from a list with other filters.",
    fix: "Start again without `cursor`.",
  },
  event_position_lost: {
    when:
      "The operator restored the database to an earlier time. The event of `Last-Event-ID` or `after` happened later, " +
      "so it is lost, and the events since then have other IDs.",
    fix:
      "List your runs again: those that were accepted in the lost period are gone. Then open the stream without " +
      "`Last-Event-ID` and `after`.",
  },
  request_timeout: {
    when: "The headers or the body of the request arrived too slowly.",
    fix: "Send the request again over a faster connection. For large images, send a URL instead of the file.",
  },
  payload_too_large: {
    when: "The body or a file is larger than allowed. `details.max_bytes` has the limit where it is known.",
    fix: "Send a smaller image, or a URL instead of base64.",
  },
  too_many_parts: { when: "A multipart form has more than 64 fields or 12 files.", fix: "Send fewer parts." },
  headers_too_large: {
    when: "The request headers together exceed the limit of the server.",
    fix: "Send fewer or shorter headers. Cookies are the usual cause.",
  },
  unsupported_media_type: {
    when:
      "The operation does not accept the `Content-Type` of the body. `details.accepted` has `json`, `form` or " +
      "both.",
    fix: "Send `application/json` or `multipart/form-data`, as the operation's reference says.",
  },
  unsupported_content_encoding: {
    when: "The request has a `Content-Encoding` such as gzip.",
    fix: "Send the body uncompressed.",
  },
} satisfies Partial<Record<FaultCode, FaultGuidance>>;

export const faultGuidance: Record<FaultCode, FaultGuidance> = { ...requestGuidance, ...runGuidance };
