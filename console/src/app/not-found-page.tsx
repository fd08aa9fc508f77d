// A URL without a page.
import { Link } from "@tanstack/react-router";
import { FileQuestion } from "lucide-react";
import { buttonClass } from "../parts/button-class.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { text } from "../text/text.ts";

export function NotFoundPage() {
  const next = (
    <Link to="/" className={buttonClass()}>
      {text.pages.notFoundNext}
    </Link>
  );
  return <EmptyState icon={FileQuestion} title={text.pages.notFound} action={next} />;
}
