import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Identity } from "../../kit/schemas/access.ts";

export const getMe = defineOperation({
  name: "me.get",
  summary: "Get the user, the tenant and the permissions of the credential. Every credential may ask",
  http: { method: "GET", path: "/me" },
  input: z.object({}),
  output: Identity,
  example: {},
  respond: (_input, services) => services.members.self(),
});
