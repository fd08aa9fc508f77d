import { z } from "zod";
import { describeCaller } from "../../access/identity.ts";
import { Identity } from "../../contract/schemas/access.ts";
import { defineQuery } from "../define-query.ts";

export const getMe = defineQuery({
  name: "me.get",
  summary: "Get the user, the tenant and the permissions of the credential. Every credential may ask",
  http: { method: "GET", path: "/me" },
  input: z.object({}),
  output: Identity,
  example: {},
  handle: (_input, request) => describeCaller(request),
});
