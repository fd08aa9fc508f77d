// Next.js route handler. POST creates a run and responds at once; GET returns its status. The API key stays on the
// server.
import { createClient, GessoError } from "@gesso/client";

const client = createClient();

const refused = (error: unknown) => {
  if (!GessoError.isInstance(error)) throw error;
  const { message, code, requestId } = error;
  return Response.json({ message, code, requestId }, { status: error.status ?? 400 });
};

export async function POST(request: Request): Promise<Response> {
  const { prompt } = (await request.json()) as { prompt: string };
  try {
    const { run_id } = await client.images.generate({ prompt, width: 256, height: 256 });
    return Response.json({ run_id }, { status: 202 });
  } catch (error) {
    return refused(error);
  }
}

export async function GET(request: Request): Promise<Response> {
  const run_id = new URL(request.url).searchParams.get("run_id") ?? "";
  try {
    const { status, progress, image_url } = await client.runs.get(run_id);
    return Response.json({ status, progress, image_url });
  } catch (error) {
    return refused(error);
  }
}
