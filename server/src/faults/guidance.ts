// For each error code: when it happens and how to fix it. The reference page of errors is generated from these texts.
import type { FaultCode } from "./faults.ts";

export const faultGuidance: Record<FaultCode, { when: string; fix: string }> = {
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
  unsupported_image_format: {
    when: "The bytes are not a JPEG, PNG or WebP image, whatever the file name says.",
    fix: "Convert the image to one of these formats.",
  },
  image_undecodable: {
    when: "The image ends early, or its structure is damaged. `details.reason` says where.",
    fix: "Export the image again.",
  },
  image_too_many_pixels: {
    when: "The image has more than 50 megapixels, or a side is longer than 16,384 pixels.",
    fix: "Resize the image first.",
  },
  image_too_small: { when: "A side of the image is shorter than 16 pixels.", fix: "Use a larger image." },
  image_animated_not_supported: { when: "The PNG or WebP has more than one frame.", fix: "Send a single frame." },
  mask_mismatch: {
    when: "The aspect ratio of the mask differs from that of the image by more than 1 %. `details` has both sizes.",
    fix: "Export the mask in the shape of the image. Gesso scales a mask of another size.",
  },
  url_not_allowed: {
    when:
      "A URL uses a private IP address, an internal host name, an unusual port, credentials or another scheme. " +
      "`details.reason` names the rule: `url`, `scheme`, `credentials`, `port`, `host`, `address`, `downgrade` or " +
      "`foreign_address`. If several apply, `details.reasons` has all of them.",
    fix:
      "Use a public URL, or upload the file with `images.upload`. Operators allow private hosts with " +
      "`FETCH_ALLOW_ORIGINS` and `FETCH_ALLOW_CIDRS`.",
  },
  webhook_url_not_allowed: {
    when:
      "The webhook URL is private, not https, or names the API itself. `details.reason` names the rule. If several " +
      "apply, `details.reasons` has all of them.",
    fix:
      "Use a public https URL. To receive webhooks on your machine, use `gesso webhooks listen`; `gesso dev` also sends to " +
      "URLs of its own machine. Operators allow receivers in their network with `WEBHOOK_ALLOW_CIDRS`, `FETCH_PORTS` and " +
      "`WEBHOOK_ALLOW_HTTP`.",
  },
  source_fetch_failed: {
    when:
      "The source URL did not return an image, or the source cannot be used. `details.reason` says why, for " +
      "example `status`, `timeout`, `connection` or `empty`.",
    fix: "Open the URL without a login. If it works, retry; otherwise upload the file with `images.upload`.",
  },
  source_too_large: {
    when: "The file behind the source URL is larger than `details.max_bytes`.",
    fix: "Use a smaller file.",
  },
  content_refused: {
    when: "The provider's moderation refused the prompt, the images or the result. `details.by` is `provider`.",
    fix: "Change the request. Gesso never sends refused content to another provider. You do not pay for the run.",
  },
  run_not_ready: {
    when: "You use a run as a source, and that run is still `queued` or `processing`. `details.run_id` has its ID.",
    fix: "Wait for the source run first: `await client.runs.get(run_id).wait()`.",
  },
  source_run_failed: {
    when: "You use a run as a source, and that run ended without an image. `details.run_id` has its ID.",
    fix: "Use a run with status `completed`.",
  },
  output_not_found: {
    when: "`output_index` is as large as the number of outputs of the source run, or larger.",
    fix: "Use an index from 0 to `details.output_count` minus 1. The order is that of `outputs`.",
  },
  source_not_image: {
    when: "A source is a video or another file that is not an image.",
    fix: "Use an image. To use a frame of a video, send the ID of its run with `frame` set to `first` or `last`.",
  },
  frame_unavailable: {
    when: "Gesso could not take a frame of the source video; `details.reason` says why. You are not charged.",
    fix: "Use another video, or take the frame yourself and upload it. With the reason `ffmpeg_missing`, install `ffmpeg` on the worker.",
  },
  run_not_cancelable: {
    when: "The run is already `completed`, `failed` or `canceled`.",
    fix: "Nothing to do. To remove a finished run, delete it.",
  },
  run_not_repeatable: {
    when: "You repeat a run whose `given` is `null`: an upload, or a run that an earlier version of Gesso created.",
    fix: "Create the run with a new request. `inputs` of the run has all values, including defaults.",
  },
  run_canceled: {
    when: "You waited for the bytes of an image, and the run was canceled meanwhile.",
    fix: "Create the run again if you still need it.",
  },
  tree_too_deep: {
    when: "The new run would be at level 65 of its tree.",
    fix: "Upload the image with `images.upload`, and continue from the upload.",
  },
  insufficient_credits: {
    when: "The tenant is prepaid, and its balance minus the reserves of open runs does not cover the estimate.",
    fix: "The operator adds credit with `tenants.credit`.",
  },
  price_unknown: {
    when: "Gesso does not know what the run may cost, and `max_cost`, a spending limit or a prepaid balance applies.",
    fix: "Choose a model with a known price, see `catalogue.get`. The operator sets `price` in `gesso.yaml`.",
  },
  spend_limit_reached: {
    when:
      "The run would exceed a limit. `details.reason` is `max_cost` if the estimate is higher than the `max_cost` " +
      "you sent. Otherwise `details.limit` is `hour`, `day`, `month` or `total`, and `details.of` is `tenant`, `key` or " +
      "`token`.",
    fix: "Raise the limit, wait for the next hour, UTC day or month, or choose a cheaper model.",
  },
  confirmation_required: {
    when:
      "A tool of the MCP server would create a run whose estimate is above `MCP_CONFIRM_ABOVE`, and the client cannot " +
      "ask its user. `details.estimate` is the cost in US dollars. No run was created.",
    fix:
      "Ask the user. Then repeat the call with `confirm_cost` set to at least `details.estimate`. Above " +
      "`MCP_CONFIRM_COST_MAX`, use a client with elicitation or the HTTP API.",
  },
  conflict: {
    when:
      "The resource does not allow the operation now. `details.reason` is `already_member`, `last_owner`, " +
      "`revoked`, `not_in_force`, `already_made`, `webhook_disabled`, `webhook_deleted`, `too_many_webhooks`, " +
      "`own_tenant`, `not_suspended` or `being_deleted`. " +
      "Without a reason, another request changed the resource at the same time.",
    fix: "Without a reason, read the resource and retry. With a reason, change the named state first.",
  },
  rate_limited: {
    when:
      "Your tenant or key sent more requests, runs or streams than allowed. `details.policy` names the limit, for " +
      "example `runs` or `key-requests`.",
    fix:
      "Wait for `Retry-After`; the client does so by itself. The `RateLimit` header shows what is left. Operators " +
      "change the limits with `TENANT_REQUESTS_PER_MINUTE`, `TENANT_RUNS_PER_MINUTE` and the `limits` of a key or " +
      "tenant.",
  },
  concurrency_limit_reached: {
    when: "Your tenant or key already has the maximum number of open runs. `details.limits` shows the maximum.",
    fix:
      "Wait for a run to end, or cancel one. Operators change the limit with `TENANT_OPEN_RUNS` or " +
      "`limits.open_runs`.",
  },
  model_unavailable: {
    when: "No enabled provider offers the model, or the offer is retired. `details.model` has the model.",
    fix:
      "Choose another model. Operators run `gesso doctor`: it lists the models without a provider and the settings " +
      "that enable each provider.",
  },
  service_overloaded: {
    when: "The server sheds load: event loop or database have been too slow for a second.",
    fix: "Wait for `Retry-After`. Operators add processes, or change `SHED_MS`.",
  },
  dependency_unavailable: {
    when: "PostgreSQL, Restate, storage, the image decoder or the fetcher does not respond.",
    fix: "Retry. Operators look at `/readyz` and run `gesso doctor`.",
  },
  asset_unavailable: {
    when: "The database knows the file, but storage did not return it.",
    fix: "Retry. If the error persists, the operator checks the bucket or disk.",
  },
  internal_error: {
    when: "The server has a defect. The log has the cause under the request ID.",
    fix: "Retry. If the error persists, report `details.request_id`.",
  },
  sync_timeout: {
    when:
      "An operation that returns image bytes did not finish within 55 s (`SYNC_SECONDS`). The run continues. " +
      "`details.run_id` has its ID.",
    fix:
      "Read the run later, or repeat the request with the same `Idempotency-Key`. `.wait()` in the client has no " +
      "such limit.",
  },
  provider_error: {
    when: "The provider reported a failure, and no other offer could take the job.",
    fix: "Create the run again. You do not pay for the failed run.",
  },
  unusable_provider_key: {
    when:
      "The provider refused the key, or Gesso could not check it; `details.key` is `refused`, `unknown` or `off`, and " +
      "`details.reason` says why.",
    fix: "Copy the key again from the page of the provider. `details.fix` names what else may help.",
  },
  key_belongs_in_settings: {
    when: "`system.connectProvider` was called on a server that `gesso dev` did not start.",
    fix: "Add the lines of `details.setup`, as the console shows them, and restart the server.",
  },
  provider_rejected_input: {
    when: "The provider refused the parameters or images. `details.reason` says why, for example `nothing_found`.",
    fix: "Change the request.",
  },
  provider_timeout: {
    when: "The provider accepted the job and did not finish it before the run's deadline.",
    fix: "Create the run again, or choose a faster model with `routing: fastest`.",
  },
  provider_output_invalid: {
    when: "The provider's result has no file, or the file is not a valid image or video. `details.reason` says why.",
    fix: "Create the run again. You do not pay for the failed run.",
  },
  provider_outcome_unknown: {
    when:
      "The connection broke after Gesso sent a paid job. The provider accepts no idempotency key, offers no " +
      "look-up, and no callback arrived within 120 s (`UNKNOWN_SECONDS`).",
    fix:
      "Decide whether to create the run again: the provider may have done the work, at the operator's cost. With " +
      "`on_unknown: resubmit` in `gesso.yaml`, Gesso submits again and the operator accepts a possible second " +
      "charge. A reachable `PUBLIC_URL` makes this error rarer, because callbacks can arrive.",
  },
  storage_failed: {
    when:
      "The result could not be written to the disk or bucket before the run's deadline. `details.reason` is `disk_full`, " +
      "or `output_too_large` if the result is larger than `MAX_OUTPUT_MEGABYTES`; then `details.max_bytes` has the limit.",
    fix:
      "Create the run again. You do not pay for the failed run. Operators check free space, `MAX_OUTPUT_MEGABYTES` and " +
      "the `S3_` settings.",
  },
  run_timeout: {
    when:
      "The run waited for 600 s (`RUN_DEADLINE_SECONDS`), or 3,600 s for a video, and was not submitted to a provider; " +
      "or it took as long again after that.",
    fix: "Create the run again. If it happens often, the operator adds workers or raises the provider's limits.",
  },
  canceled_by_user: {
    when: "You or another user of the tenant canceled the run. Its `error` has this code.",
    fix: "Create the run again if you still need it.",
  },
};
