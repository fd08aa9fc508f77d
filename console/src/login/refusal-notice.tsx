// Why a sign-in was refused, with the request ID for the operator.
import type { SignInRefusal } from "../api/session.ts";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import { refusalText } from "./refusal-text.ts";

export function RefusalNotice({ refusal }: { refusal: SignInRefusal }) {
  return (
    <Notice kind={refusal.code === "session_required" ? "info" : "bad"} title={refusalText(refusal)}>
      {refusal.requestId && <span className="mono">{text.common.requestId(refusal.requestId)}</span>}
    </Notice>
  );
}
