import { expect, it } from "vitest";
import { redactUrl } from "./log.ts";

it("hides the values of signatures, tokens and keys in a URL, and no others", () => {
  expect(redactUrl("https://a.example/x?limit=2&Signature=abc&api_key=k=1&q=token")).toBe(
    "https://a.example/x?limit=2&Signature=[hidden]&api_key=[hidden]&q=token",
  );
  expect(redactUrl("https://a.example/x?access_token=t#key")).toBe("https://a.example/x?access_token=[hidden]");
  expect(redactUrl("https://a.example/keys/token")).toBe("https://a.example/keys/token");
});
