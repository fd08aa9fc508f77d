// A watchdog that kills a child process when its parent exits, also after SIGKILL.

/**
 * Runs in the component's pid before the component: it forks a watcher that reads from the parent's pipe, then executes
 * the component. A line on the pipe means that the component exited, so the watcher exits. End of file means that the
 * parent exited, so the watcher kills the component's process group.
 *
 * Why a shell and a pipe: the kernel closes the pipe even after kill -9; it works on Linux and macOS; the watcher takes
 * one megabyte and runs before the component does. `setpriv --pdeathsig` exists on Linux only, is cleared when the user
 * changes, and fires when the parent's thread (not its process) exits, which would kill components started from a
 * worker thread. The watcher is forked twice because PostgreSQL logs children that it does not know.
 */
const SCRIPT = `
exec 3<&0 </dev/null
( ( read -r line <&3 || kill -s KILL -- "-$$" ) >/dev/null 2>&1 & )
exec "$@" 3<&-
`;

/** The command line to spawn, detached, with a pipe as standard input. */
export function withParentWatchdog(command: string[]): [file: string, parameters: string[]] {
  return ["/bin/sh", ["-c", SCRIPT, "watchdog", ...command]];
}
