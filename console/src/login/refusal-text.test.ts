import { expect, it } from "vitest";
import { refusalText } from "./refusal-text.ts";

it("a link that was used or has expired names the command that prints another, not a restart", () => {
  const sentence = refusalText({
    code: "sign_in_code_invalid",
    requestId: undefined,
    retryAfterSeconds: undefined,
  });
  expect(sentence).toContain("gesso console");
  expect(sentence).not.toContain("gesso dev");
});
