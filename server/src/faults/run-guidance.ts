// Guidance for the errors of what a request asks for: its images, its cost, its limits, and what became of the run.
import type { FaultCode, FaultGuidance } from "./codes.ts";

export const runGuidance = {
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
} satisfies Partial<Record<FaultCode, FaultGuidance>>;
