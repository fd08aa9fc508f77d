// Turns a file or a reference into the value of an image field. A field that takes only URLs gets the URL of the
// upload or of the run; all others get the run's ID, which keeps the lineage.
import { useState } from "react";
import { client } from "../api/client.ts";
import { fileProblem, parseReference } from "./image-input.ts";
import type { FormField } from "./operation-forms.ts";

type Accepts = NonNullable<FormField["accepts"]>;

export function useImageUpload(accepts: Accepts, onChange: (value: string) => void) {
  const [uploading, setUploading] = useState<string>();
  const [problem, setProblem] = useState<string>();

  const attempt = async (name: string, read: () => Promise<string | undefined>) => {
    setProblem(undefined);
    setUploading(name);
    try {
      const value = await read();
      if (value === undefined) setProblem("reference");
      else onChange(value);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setUploading(undefined);
    }
  };

  const upload = async (file: File) => {
    const refused = fileProblem(file);
    if (refused) return setProblem(refused);
    await attempt(file.name, async () => {
      const { data } = await client.images.upload({ file });
      return accepts === "url" ? data.image_url : data.run_id;
    });
  };

  const refer = (words: string) =>
    attempt(words, async () => {
      const reference = parseReference(words);
      if (reference?.kind === "url") return accepts === "run" ? undefined : reference.url;
      if (reference?.kind !== "run" || accepts !== "url") return reference?.runId;
      return (await client.runs.get(reference.runId)).image_url ?? undefined;
    });

  return { uploading, problem, upload, refer };
}
