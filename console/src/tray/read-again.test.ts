import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { readAgain } from "./read-again.ts";

it("a first read that was answered before the events begin is read once more", async () => {
  const queryClient = new QueryClient();
  const answers: ((answer: string) => void)[] = [];
  const queryFn = () => new Promise<string>((resolve) => answers.push(resolve));
  const observer = new QueryObserver(queryClient, { queryKey: ["tray"], queryFn });
  const stop = observer.subscribe(() => {});
  const read = readAgain(queryClient, ["tray"]);
  answers[0]!("processing");
  await expect.poll(() => answers.length).toBe(2);
  answers[1]!("completed");
  await read;
  expect(queryClient.getQueryData(["tray"])).toBe("completed");

  // What has been read already is read once.
  const again = readAgain(queryClient, ["tray"]);
  await expect.poll(() => answers.length).toBe(3);
  answers[2]!("completed");
  await again;
  expect(answers).toHaveLength(3);
  stop();
});
