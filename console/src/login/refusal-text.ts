// The sentence for a refused sign-in.
import type { SignInRefusal } from "../api/session.ts";
import { text } from "../text/text.ts";

const DEFAULT_WAIT_SECONDS = 60;

export function refusalText({ code, retryAfterSeconds }: SignInRefusal): string {
  switch (code) {
    case "invalid_api_key":
      return text.login.keyRefused;
    case "sign_in_code_invalid":
      return text.login.linkRefused;
    case "rate_limited":
      return text.login.tooMany(retryAfterSeconds ?? DEFAULT_WAIT_SECONDS);
    case "no_response":
      return text.login.offline;
    case "session_required":
      return text.login.ended;
    default:
      return text.login.refused;
  }
}
