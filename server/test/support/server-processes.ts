// Whether the API and the worker of an environment are still the processes that they were at the start of a drill.
import type { CheckResult } from "./campaign.ts";
import type { TestEnvironment } from "./test-environment.ts";

export const serverPids = (environment: TestEnvironment): number[] => {
  const { api, worker } = environment.pids();
  return [api!, worker!];
};

export function restartCheck(environment: TestEnvironment, before: number[]): CheckResult {
  const isRunning = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  const now = serverPids(environment);
  const passed = now.every((pid, index) => pid === before[index] && isRunning(pid));
  return { invariant: "no process was restarted", passed, observed: `process IDs ${now.join(", ")}` };
}
