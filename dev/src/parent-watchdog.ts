// A watchdog that kills a child process when its parent exits, also after SIGKILL.

/**
 * Runs before the part, in the part's own pid. It leaves a watcher behind that reads from the parent's pipe and then
 * becomes the part. A line means "the part is gone, go home"; the end of the pipe means "the parent is gone, kill".
 *
 * Why a shell and a pipe: the kernel closes the pipe even after kill -9, it works on Linux and macOS, the watcher
 * weighs one megabyte, and it is there before the part is. `setpriv --pdeathsig` is Linux only, is cleared when the
 * user changes, and fires when the parent's thread (not its process) ends, which kills parts started from a worker.
 * The watcher is forked twice because PostgreSQL reports children that it does not know.
 */
const SCRIPT = `
exec 3<&0 </dev/null
( ( read -r line <&3 || kill -s KILL -- "-$$" ) >/dev/null 2>&1 & )
exec "$@" 3<&-
`;

/** The command line to spawn, detached, with a pipe as standard input. */
export function withParentWatchdog(command: string[]): [file: string, parameters: string[]] {
  return ["/bin/sh", ["-c", SCRIPT, "leash", ...command]];
}
