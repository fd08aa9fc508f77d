// Printed by `npm run generate` from the code; never edited by hand.
// What many operations take, and what the server answers.
import type { ImageSource } from "../sources.ts";

/** What every operation takes that makes a run. */
export type RunFields = {
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
  /** Who is asked first where several providers offer the same: the preferred, the cheapest or the fastest */
  routing?: "preferred" | "cheapest" | "fastest";
  /** Refuse the run where it would cost more than this, in US dollars, or nobody knows what it costs. 0 to 1000000 */
  max_cost?: number;
  /** Address that is told when the run has ended */
  webhook_url?: string;
  /** Signs the webhook; never shown again */
  webhook_secret?: string;
  /** Your own notes; they come back with the run */
  metadata?: Record<string, unknown>;
};

/** The same, where the answer waits for the result. */
export type PictureFields = Omit<RunFields, "sync"> & {
  /** Wait for the result, at most 55 seconds; false answers the open run at once. Default true */
  sync?: boolean;
};

/** The picture that is worked on. */
export type SourceFields = {
  /** The image */
  image_url?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
};

/** Answer of the interface: AccessLimits */
export type AccessLimits = {
  /** Requests of any kind */
  requests_per_minute?: number | null;
  /** Runs that may be started */
  runs_per_minute?: number | null;
  /** Runs that may be under way at a time */
  open_runs?: number | null;
  /** Callers that one process lets wait for their runs; others are answered at once */
  waiters?: number | null;
  /** Streams of events that one process holds open; others are refused */
  streams?: number | null;
  /** US dollars that the runs of a day may cost */
  spend_per_day?: number | null;
  /** US dollars that the runs of a month may cost */
  spend_per_month?: number | null;
};

/** Answer of the interface: Attempt */
export type Attempt = {
  /** Which job of the run */
  job: number;
  /** Counts from 1 within the job */
  try: number;
  provider: string;
  /** The provider's own name for the model */
  upstream: string | null;
  /** unknown: sent, and nobody can tell whether it was taken */
  state: "intent" | "submitted" | "succeeded" | "failed" | "unknown" | "abandoned" | (string & {});
  /** What was sent, without secrets and pictures */
  request: Record<string, unknown> | null;
  error: Fault | null;
  /** When it was begun */
  created_at: string;
  /** When it ended */
  finished_at: string | null;
};

/** Answer of the interface: AuditEntry */
export type AuditEntry = {
  /** Counts up from 1 without gaps */
  entry: number;
  at: string;
  /** Who did it */
  user_id: string;
  /** With which key; null where no key stood behind it */
  key_id: string | null;
  /** Such as `keys.revoke` */
  action: string;
  /** What it was done to */
  subject: string;
  details: Record<string, unknown>;
  /** SHA-256 over this entry and the digest of the one before it */
  digest: string;
};

/** Answer of the interface: AuditPage */
export type AuditPage = {
  data: AuditEntry[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: BackgroundRemoved */
export type BackgroundRemoved = {
  /** The image without its background; null while the run is open */
  url: string | null;
  runId: string;
  /** The run that was given as the source */
  parentRunId?: string;
};

/** Answer of the interface: Balance */
export type Balance = {
  tenant_id: string;
  currency: "USD";
  /** What is there and not held by open runs */
  balance: number;
  /** Whether runs are refused when the balance does not cover them */
  prepaid: boolean;
};

/** Answer of the interface: CharacterGeneration */
export type CharacterGeneration = {
  /** False when the run failed or the request was refused */
  success: boolean;
  /** A sentence for people */
  message: string;
  /** The run; absent when the request was refused */
  data?: {
      run_id: string;
      status?: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
      live_status?: string;
      /** 0 to 1 */
      progress?: number;
      /** The image; null until the run has completed */
      image_url?: string | null;
      /** When it was accepted */
      created_at?: string;
      /** When it last changed */
      updated_at?: string;
      run_type?: "character-generation";
      /** What was taken but adapted or not used */
      warnings?: string[];
    };
  /** Why it failed, a word for programs */
  code?: string;
  details?: Record<string, unknown>;
};

/** Answer of the interface: Description */
export type Description = {
  run_id: string;
  status: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
  /** What the image shows; absent until the run has completed */
  description?: string;
  /** What is in it, in single words */
  tags?: string[];
  /** A prompt that would make something like it */
  prompt?: string;
  /** Of the image, in pixels */
  width?: number;
  /** Of the image, in pixels */
  height?: number;
  /** Why the run failed */
  error?: Fault;
};

/** Answer of the interface: Enhancement */
export type Enhancement = {
  run_id: string;
  status: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
  /** As it was sent */
  prompt: string;
  /** The better prompt; absent until the run has completed */
  enhanced_prompt?: string;
  /** The model that it is for */
  model_type: string;
  /** What was added, and of which kind */
  changes?: Array<{
      /** Style, light, composition */
      kind: string;
      added: string;
    }>;
  /** Why the run failed */
  error?: Fault;
};

/** Answer of the interface: Error */
export type Fault = {
  /** A sentence for people */
  message: string;
  /** A word for programs, from the list of errors */
  code?: string;
  details?: Record<string, unknown>;
};

/** Answer of the interface: Estimate */
export type Estimate = {
  currency: "USD";
  /** The price; null where it is not known */
  amount: number | null;
  /** Whether every price that it rests on is known */
  known: boolean;
  /** What the amount is made of, a line for each job */
  basis: Array<{
      /** The work, the model that does it, and what is counted */
      what: string;
      /** How many are counted: images, megapixels, seconds of video or calls */
      quantity: number;
      /** The price of one; null where it is not known */
      unit_price: number | null;
      /** Which list the price is from; null without a price */
      price_version: string | null;
    }>;
};

/** Answer of the interface: Event */
export type Event = {
  /** The same wherever it is told: in a stream, and as `webhook-id` */
  event_id: string;
  /** What has happened, such as run.completed */
  type: string;
  /** When it happened */
  timestamp: string;
  /** The run in short, for events of runs */
  data: {
      /** The run's id */
      run_id?: string;
      status?: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
      live_status?: "pending" | "processing" | "completed" | "failed" | "canceled" | (string & {}) | null;
      /** The kind of run */
      run_type?: string;
      /** The run that this one was made from */
      parent_run_id?: string | null;
      /** 0 to 1 */
      progress?: number;
      /** The image; null until the run has completed */
      image_url?: string | null;
      /** The video, for runs that make one */
      video_url?: string | null;
      /** Every file the run made */
      outputs?: Output[];
      /** What was taken but adapted or not used */
      warnings?: string[];
      /** The caller's own notes, as given */
      metadata?: Record<string, unknown>;
      /** When it was accepted */
      created_at?: string;
      /** When it last changed */
      updated_at?: string;
      /** Until when its files are kept */
      expires_at?: string | null;
      /** Why the run failed; null otherwise */
      error?: Fault | null;
    };
};

/** Answer of the interface: EventPage */
export type EventPage = {
  data: Array<{
      /** The same wherever it is told: in a stream, and as `webhook-id` */
      event_id: string;
      /** What has happened, such as run.completed */
      type: string;
      /** When it happened */
      timestamp: string;
      /** The run in short, for events of runs */
      data: {
          /** The run's id */
          run_id?: string;
          status?: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
          live_status?: "pending" | "processing" | "completed" | "failed" | "canceled" | (string & {}) | null;
          /** The kind of run */
          run_type?: string;
          /** The run that this one was made from */
          parent_run_id?: string | null;
          /** 0 to 1 */
          progress?: number;
          /** The image; null until the run has completed */
          image_url?: string | null;
          /** The video, for runs that make one */
          video_url?: string | null;
          /** Every file the run made */
          outputs?: Output[];
          /** What was taken but adapted or not used */
          warnings?: string[];
          /** The caller's own notes, as given */
          metadata?: Record<string, unknown>;
          /** When it was accepted */
          created_at?: string;
          /** When it last changed */
          updated_at?: string;
          /** Until when its files are kept */
          expires_at?: string | null;
          /** Why the run failed; null otherwise */
          error?: Fault | null;
        };
      /** Its place among all events; later ones are greater */
      id: string;
    }>;
  /** Give it as `after` for what comes next */
  last_id: string | null;
};

/** Answer of the interface: Extraction */
export type Extraction = Run & {
  /** What was found; empty until the run has completed */
  objects: Array<{
      name: string;
      /** How sure the model is, 0 to 1 */
      score: number | null;
      /** Where it lies in the source */
      box: {
          x: number;
          y: number;
          width: number;
          height: number;
        } | null;
      asset_id: string;
      /** The object cut out, or its mask in mode mask */
      image_url: string;
      /** Where it lies, in white */
      mask_url: string | null;
    }>;
};

/** Answer of the interface: Generation */
export type Generation = Run & {
  data: {
      run_id: string;
      image_url: string | null;
    };
};

/** Answer of the interface: Key */
export type Key = {
  /** The key's id */
  id: string;
  name: string;
  /** Four characters of the key, to tell it from others */
  hint: string;
  /** Whose key it is: what it does, it does in their name and with their role */
  user_id: string;
  scopes: string[];
  limits: AccessLimits;
  created_at: string;
  expires_at: string | null;
  /** To the minute */
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key that took its place when it was rotated */
  replaced_by: string | null;
};

/** Answer of the interface: KeyPage */
export type KeyPage = {
  data: Key[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: Layer */
export type Layer = {
  /** The layer's id; the same at each read */
  id: string;
  /** The run that the picture belongs to */
  run_id: string;
  /** What the layer is to the run */
  kind: "source" | "background" | "object" | "mask" | "result" | (string & {});
  name: string;
  /** The picture; null where the layer is a video */
  image_url: string | null;
  /** Pixels from the left edge */
  x: number;
  /** Pixels from the upper edge */
  y: number;
  width: number;
  height: number;
  /** 0 is the lowest */
  z_index: number;
  /** 0 to 1 */
  opacity: number;
  visible: boolean;
};

/** Answer of the interface: Layers */
export type Layers = {
  data: {
      layers: Layer[];
    };
};

/** Answer of the interface: Member */
export type Member = {
  user_id: string;
  role: "owner" | "developer" | "viewer" | (string & {});
  name: string | null;
  email: string | null;
  created_at: string;
  updated_at: string;
};

/** Answer of the interface: MemberPage */
export type MemberPage = {
  data: Member[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: Model */
export type Model = {
  /** Give it as `model_id` to generate */
  model_id: string;
  name: string;
  /** The model type that it is made for */
  model_type: string;
  /** Its name where it runs: the LoRA's file, without `.safetensors` */
  deployment_id: string;
  /** The word that calls it; it is put into prompts that lack it */
  trigger_word: string | null;
  description: string | null;
  preview_image_url: string | null;
  /** Its owner, the owner's tenant, or everybody may use it */
  visibility: "private" | "tenant" | "public" | (string & {});
  /** The user who registered it */
  owner: string;
  /** A disabled model can be used by nobody */
  status: "active" | "disabled" | (string & {});
  created_at: string;
  updated_at: string;
};

/** Answer of the interface: ModelGrant */
export type ModelGrant = {
  grant_id: string;
  model_id: string;
  /** The tenant that it is given to */
  tenant_id: string;
  /** The one user that it is given to; null for the whole tenant */
  user_id: string | null;
  created_at: string;
};

/** Answer of the interface: ModelGrantPage */
export type ModelGrantPage = {
  data: ModelGrant[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: ModelPage */
export type ModelPage = {
  data: Model[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: NewKey */
export type NewKey = {
  /** The key's id */
  id: string;
  name: string;
  /** Four characters of the key, to tell it from others */
  hint: string;
  /** Whose key it is: what it does, it does in their name and with their role */
  user_id: string;
  scopes: string[];
  limits: AccessLimits;
  created_at: string;
  expires_at: string | null;
  /** To the minute */
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key that took its place when it was rotated */
  replaced_by: string | null;
  /** The key itself, shown this once; null where the request was only repeated */
  key: string | null;
};

/** Answer of the interface: NewTenant */
export type NewTenant = {
  /** The tenant's id */
  id: string;
  name: string;
  /** Its share of what there is, beside the shares of others */
  weight: number;
  limits: AccessLimits;
  /** Days that files are kept; 0 for ever, null as the installation is set */
  retention_days: number | null;
  /** Whether all its credentials are refused */
  suspended: boolean;
  created_at: string;
  updated_at: string;
  owner_key: NewKey;
};

/** Answer of the interface: NewWebhook */
export type NewWebhook = {
  /** The webhook's id */
  id: string;
  url: string;
  /** What it is told of */
  events: Array<"run.completed" | "run.failed" | "run.canceled" | "run.processing" | "run.progress" | "webhook_endpoint.disabled" | "credits.low" | "api_key.revoked" | (string & {})>;
  description: string | null;
  enabled: boolean;
  /** asked: by you; gone: it answered 410; failing: nothing arrived for five days; not_allowed: its address */
  disabled_reason: "asked" | "gone" | "failing" | "not_allowed" | (string & {}) | null;
  disabled_at: string | null;
  /** Since when nothing has arrived; null while the last message did */
  failing_since: string | null;
  /** The public keys that its messages can be checked with instead of the secret */
  public_keys_url: string;
  created_at: string;
  updated_at: string;
  /** The secret, shown this once; null where you gave it, or the request was only repeated */
  secret: string | null;
};

/** Answer of the interface: NewWebhookListener */
export type NewWebhookListener = {
  /** The listener's id; its deliveries have it as `webhook_id` */
  id: string;
  name: string;
  /** How it is called in the log of deliveries */
  url: string;
  /** The secret, shown this once; null where you gave it */
  secret: string | null;
  /** Where the log of events ends now; give it to the stream, and nothing is missed */
  after: string;
  created_at: string;
};

/** Answer of the interface: Output */
export type Output = {
  asset_id: string;
  /** Stable address of the file; it works without a credential */
  url: string;
  media_type: string;
  width: number;
  height: number;
  size_bytes: number;
  sha256: string;
  /** What the file is to the run: result, source, mask */
  role: string;
  /** What was found, where something was looked for */
  name?: string;
  /** How sure the model is of it, 0 to 1 */
  score?: number;
  /** Where it lies */
  box?: {
      x: number;
      y: number;
      width: number;
      height: number;
    };
  /** Seconds, of a video */
  duration?: number;
  /** Frames per second, of a video */
  fps?: number;
};

/** Answer of the interface: Prompt */
export type Prompt = {
  /** The prompt's id */
  id: string;
  name: string;
  text: string;
  /** The model that it is written for */
  model_type: string | null;
  tags: string[];
  /** Rises by one with every change */
  version: number;
  /** When the prompt was made */
  created_at: string;
  /** When this version was made */
  updated_at: string;
};

/** Answer of the interface: PromptPage */
export type PromptPage = {
  data: Prompt[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: ReferenceGeneration */
export type ReferenceGeneration = {
  /** False when the run failed or the request was refused */
  success: boolean;
  /** A sentence for people */
  message: string;
  /** The run; absent when the request was refused */
  data?: {
      run_id: string;
      status?: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
      live_status?: string;
      /** 0 to 1 */
      progress?: number;
      /** The image; null until the run has completed */
      image_url?: string | null;
      /** When it was accepted */
      created_at?: string;
      /** When it last changed */
      updated_at?: string;
      run_type?: "reference-generation";
      /** What was taken but adapted or not used */
      warnings?: string[];
    };
  /** Why it failed, a word for programs */
  code?: string;
  details?: Record<string, unknown>;
};

/** Answer of the interface: Run */
export type Run = {
  /** The run's id */
  run_id: string;
  /** Who started it */
  user_id: string;
  /** When it was accepted */
  created_at: string;
  /** When it last changed */
  updated_at: string;
  /** The image; null until the run has completed */
  image_url: string | null;
  /** All images of the run */
  image_urls: string[];
  /** The video, for runs that make one */
  video_url: string | null;
  /** Every file the run made */
  outputs: Output[];
  /** What it made that is no file, such as a description */
  result: Record<string, unknown> | null;
  /** What was asked, with defaults filled in and secrets left out */
  inputs: Record<string, unknown>;
  live_status: "pending" | "processing" | "completed" | "failed" | "canceled" | (string & {}) | null;
  status: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
  /** 0 to 1 */
  progress: number;
  /** What is being done, for display only */
  phase: string | null;
  /** Its place among the tenant's runs that wait; told where one run is read that has not begun */
  queue_position: number | null;
  /** When its turn is expected, where it is known */
  estimated_start_at?: string;
  /** The kind of run */
  run_type: string;
  /** The run that this one was made from */
  parent_run_id: string | null;
  model: string | null;
  provider: string | null;
  cost: {
      amount: number;
      currency: "USD";
    } | null;
  /** What was taken but adapted or not used */
  warnings: string[];
  /** The caller's own notes, as given */
  metadata: Record<string, unknown>;
  /** Why the run failed; null otherwise */
  error: Fault | null;
  /** When work began */
  started_at: string | null;
  /** When it ended */
  finished_at: string | null;
  /** Until when its files are kept */
  expires_at: string | null;
  /** Who was asked to make it, in order; told where one run is read */
  attempts?: Attempt[];
};

/** Answer of the interface: RunEdge */
export type RunEdge = {
  /** The run that was made */
  from: string;
  /** The run that it was made from */
  to: string;
  /** Whether `to` is the parent, or another run whose picture was used */
  kind: "parent" | "reference" | (string & {});
  /** What the picture of `to` was used as; link: it was not used */
  role: "source" | "mask" | "link" | (string & {});
};

/** Answer of the interface: RunNode */
export type RunNode = {
  /** The run's id */
  run_id: string;
  /** The kind of run */
  run_type: string;
  status: "queued" | "processing" | "completed" | "failed" | "canceled" | (string & {});
  live_status: "pending" | "processing" | "completed" | "failed" | "canceled" | (string & {}) | null;
  /** The image; null until the run has completed */
  image_url: string | null;
  /** The video, for runs that make one */
  video_url: string | null;
  /** The run that this one was made from */
  parent_run_id: string | null;
  model: string | null;
  /** When it was accepted */
  created_at: string;
  /** The run is gone; it is shown because others were made from it */
  deleted: boolean;
};

/** Answer of the interface: RunPage */
export type RunPage = {
  data: Run[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: RunTree */
export type RunTree = {
  /** The run that the tree began with */
  root_run_id: string;
  /** Every run of the tree, oldest first, then the runs of other trees that it refers to */
  nodes: RunNode[];
  /** Both ends of every edge are among the nodes */
  edges: RunEdge[];
};

/** Answer of the interface: Tenant */
export type Tenant = {
  /** The tenant's id */
  id: string;
  name: string;
  /** Its share of what there is, beside the shares of others */
  weight: number;
  limits: AccessLimits;
  /** Days that files are kept; 0 for ever, null as the installation is set */
  retention_days: number | null;
  /** Whether all its credentials are refused */
  suspended: boolean;
  created_at: string;
  updated_at: string;
};

/** Answer of the interface: TenantPage */
export type TenantPage = {
  data: Tenant[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: Token */
export type Token = {
  /** Send it as `Authorization: Bearer` */
  access_token: string;
  token_type: "Bearer";
  /** Seconds that it works */
  expires_in: number;
  /** What it may do, separated by spaces */
  scope: string;
};

/** Answer of the interface: Upload */
export type Upload = {
  success: boolean;
  message: string;
  data: {
      id: string;
      image_url: string;
      run_id: string;
      /** When it was stored */
      created_at: string;
      /** The run it is linked to */
      parent_id?: string;
    };
};

/** Answer of the interface: UsageReport */
export type UsageReport = {
  currency: "USD";
  /** First day, in UTC */
  from: string;
  /** Last day, in UTC */
  to: string;
  data: Array<{
      /** The day on which the runs were accepted, in UTC */
      day?: string;
      /** The key that they were asked for with; null without one */
      key_id?: string | null;
      model?: string | null;
      operation?: string;
      /** Runs that were accepted; uploads are not counted */
      runs: number;
      completed: number;
      failed: number;
      canceled: number;
      /** What the completed ones cost */
      amount: number;
      /** Completed runs whose price is not known: they are not in the amount */
      unpriced: number;
    }>;
  total: {
      /** Runs that were accepted; uploads are not counted */
      runs: number;
      completed: number;
      failed: number;
      canceled: number;
      /** What the completed ones cost */
      amount: number;
      /** Completed runs whose price is not known: they are not in the amount */
      unpriced: number;
    };
  /** The limits that count for this credential, as they stand now; empty where there are none */
  budgets: Array<{
      /** Whom the limit is for */
      of: "tenant" | "key" | "token" | (string & {});
      /** What is left of what was paid in; null where nobody pays in advance */
      balance: number | null;
      /** Today's limit */
      day: {
          /** US dollars */
          limit: number;
          /** What runs have cost, and what open ones hold */
          used: number;
        } | null;
      /** This month's limit */
      month: {
          /** US dollars */
          limit: number;
          /** What runs have cost, and what open ones hold */
          used: number;
        } | null;
      /** The limit of an access token, for as long as it lives */
      total: {
          /** US dollars */
          limit: number;
          /** What runs have cost, and what open ones hold */
          used: number;
        } | null;
    }>;
};

/** Answer of the interface: Video */
export type Video = Run & {
  /** What was asked, the same as inputs */
  input: Record<string, unknown>;
};

/** Answer of the interface: Webhook */
export type Webhook = {
  /** The webhook's id */
  id: string;
  url: string;
  /** What it is told of */
  events: Array<"run.completed" | "run.failed" | "run.canceled" | "run.processing" | "run.progress" | "webhook_endpoint.disabled" | "credits.low" | "api_key.revoked" | (string & {})>;
  description: string | null;
  enabled: boolean;
  /** asked: by you; gone: it answered 410; failing: nothing arrived for five days; not_allowed: its address */
  disabled_reason: "asked" | "gone" | "failing" | "not_allowed" | (string & {}) | null;
  disabled_at: string | null;
  /** Since when nothing has arrived; null while the last message did */
  failing_since: string | null;
  /** The public keys that its messages can be checked with instead of the secret */
  public_keys_url: string;
  created_at: string;
  updated_at: string;
};

/** Answer of the interface: WebhookAttempt */
export type WebhookAttempt = {
  /** Counts from 1; receivers get it as `x-webhook-attempt` */
  attempt: number;
  started_at: string;
  duration_ms: number;
  /** What the receiver answered; null where it did not */
  status: number | null;
  /** What went wrong before it could answer, such as timeout, connection, tls, name */
  error: string | null;
  /** The first 1,024 bytes of its answer, as text */
  response: string | null;
};

/** Answer of the interface: WebhookCall */
export type WebhookCall = {
  /** What receivers get as `webhook-id` */
  event_id: string;
  /** The type that they see */
  type: string;
  created_at: string;
};

/** Answer of the interface: WebhookDelivery */
export type WebhookDelivery = {
  /** The delivery's id */
  id: string;
  /** What receivers get as `webhook-id`, at every attempt the same */
  event_id: string;
  /** The type of the event */
  type: string;
  /** Null where a run named the address */
  webhook_id: string | null;
  /** The run that it tells of */
  run_id: string | null;
  url: string;
  /** exhausted: all attempts failed; disabled: its receiver takes no more; dropped: there is nothing to tell */
  status: "pending" | "delivered" | "exhausted" | "disabled" | "dropped" | (string & {});
  /** How often it was tried */
  attempts: number;
  /** When it is tried again */
  next_attempt_at: string | null;
  created_at: string;
  finished_at: string | null;
};

/** Answer of the interface: WebhookDeliveryDetails */
export type WebhookDeliveryDetails = {
  /** The delivery's id */
  id: string;
  /** What receivers get as `webhook-id`, at every attempt the same */
  event_id: string;
  /** The type of the event */
  type: string;
  /** Null where a run named the address */
  webhook_id: string | null;
  /** The run that it tells of */
  run_id: string | null;
  url: string;
  /** exhausted: all attempts failed; disabled: its receiver takes no more; dropped: there is nothing to tell */
  status: "pending" | "delivered" | "exhausted" | "disabled" | "dropped" | (string & {});
  /** How often it was tried */
  attempts: number;
  /** When it is tried again */
  next_attempt_at: string | null;
  created_at: string;
  finished_at: string | null;
  /** Exactly what is sent, at every attempt; null once the run was deleted */
  body: string | null;
  /** Every attempt, in order */
  log: WebhookAttempt[];
};

/** Answer of the interface: WebhookDeliveryPage */
export type WebhookDeliveryPage = {
  data: WebhookDelivery[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: WebhookMessage */
export type WebhookMessage = {
  /** How it is called in the log of deliveries, once it was reported */
  delivery_id: string;
  /** What receivers get as `webhook-id` */
  event_id: string;
  /** The type of the event */
  type: string;
  /** The run that it tells of */
  run_id: string | null;
  /** Counts from 1; report it with what came of it */
  attempt: number;
  /** Exactly what is to be sent */
  body: string;
  /** What is to be sent with it; the signature is good for five minutes */
  headers: Record<string, unknown>;
};

/** Answer of the interface: WebhookPage */
export type WebhookPage = {
  data: Webhook[];
  /** Give it as `cursor` for the next page */
  next_cursor: string | null;
};

/** Answer of the interface: WebhookReplay */
export type WebhookReplay = {
  id: string;
  webhook_id: string;
  from: string;
  to: string;
  only_failed: boolean;
  created_at: string;
};

/** Answer of the interface: WebhookSecret */
export type WebhookSecret = {
  /** The secret, shown this once; null where you gave it, or the request was only repeated */
  secret: string | null;
  /** Until when messages are signed with the old one too */
  old_secret_ends_at: string | null;
};
