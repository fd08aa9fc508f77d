// One way to call a provider, and the one place where its failures are sorted. What matters most is the last line of the
// sorting: a request that left and was not answered is doubt, and doubt is never sent again blindly.
import type { z } from "zod";
import { Fault, type FaultCode } from "../faults.ts";
import type { Context } from "./provider.ts";

/**
 * `busy`: not taken, come back later. `refused`: not taken, and never will be. `unsent`: it never left.
 * `failed`: the provider answered that it failed. `doubt`: sent, and nobody knows.
 */
export type FailureKind = "busy" | "refused" | "unsent" | "failed" | "doubt";
export type Failure = { kind: FailureKind; status?: number; retryAfterSeconds?: number; cause?: unknown };

export const failure = (code: FaultCode, cause: Failure, details = {}) => new Fault(code, details, { cause });

export const failureOf = (thrown: unknown): Failure =>
  thrown instanceof Fault && (thrown.cause as Failure | undefined)?.kind
    ? (thrown.cause as Failure)
    : { kind: "doubt", cause: thrown };

type Call<Reply> = {
  method?: "GET" | "POST" | "DELETE";
  /** The only origin that credentials may travel to: addresses that came out of an answer are held against it. */
  origin: string;
  url: string;
  headers?: Record<string, string>;
  body?: unknown;
  reply: z.ZodType<Reply>;
  /** Statuses that this provider uses for a word of its own, before the general sorting. */
  sort?: (status: number, body: string) => Fault | undefined;
};

const NEVER_LEFT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH/;

export async function call<Reply>(context: Context<unknown>, request: Call<Reply>): Promise<Reply> {
  if (new URL(request.url).origin !== new URL(request.origin).origin) {
    throw failure("provider_error", { kind: "refused", cause: "an answer pointed to another origin" });
  }
  const { status, header, text: body } = await send(context, request);
  if (status >= 200 && status < 300) return read(request.reply, body, status);
  const own = request.sort?.(status, body);
  if (own) throw own;
  throw sort(status, header, body);
}

async function send(context: Context<unknown>, request: Call<unknown>) {
  try {
    return await context.send(request.url, {
      method: request.method ?? (request.body === undefined ? "GET" : "POST"),
      headers: { accept: "application/json", "content-type": "application/json", ...request.headers },
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
    });
  } catch (thrown) {
    const { code, cause } = thrown as { code?: string; cause?: { code?: string } };
    const kind = NEVER_LEFT.test(code ?? cause?.code ?? "") ? "unsent" : "doubt";
    throw failure("provider_error", { kind, cause: thrown });
  }
}

function read<Reply>(reply: z.ZodType<Reply>, body: string, status: number): Reply {
  try {
    return reply.parse(JSON.parse(body));
  } catch (thrown) {
    // A 2xx that we cannot read may well have started something.
    throw failure("provider_error", { kind: "doubt", status, cause: thrown });
  }
}

function sort(status: number, header: (name: string) => string | undefined, body: string): Fault {
  const cause = body.slice(0, 500);
  const retryAfterSeconds = Number(header("retry-after")) || undefined;
  if (status === 429 || status === 503) {
    return failure("provider_error", { kind: "busy", status, cause, ...(retryAfterSeconds && { retryAfterSeconds }) });
  }
  if (status === 401 || status === 403) return failure("model_unavailable", { kind: "refused", status, cause });
  if (status >= 400 && status < 500) return failure("provider_rejected_input", { kind: "refused", status, cause });
  return failure("provider_error", { kind: "doubt", status, cause });
}
