// What a request shows of its caller: its headers, its URL and the address it comes from.
import type { Context } from "hono";
import type { Credentials } from "../access/authentication.ts";
import type { HttpServices } from "./http-services.ts";
import type { HttpBindings } from "./read-request.ts";

export const credentialsOf = (
  { callers: { findClientAddress } }: Pick<HttpServices, "callers">,
  { req, env }: Context<HttpBindings>,
): Credentials => ({ headers: req.raw.headers, url: req.url, address: findClientAddress(env.incoming) });
