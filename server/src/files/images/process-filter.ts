// A command that gives up rights before it runs a program: files outside a list (Landlock), signals to other processes,
// and most system calls (seccomp). It needs no privileges, so it also works in a container with default settings.
//
// Node cannot make these system calls. Perl can, and Debian's essential packages include it. What the kernel does not
// support is skipped; the program itself reports what is in effect.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSystemCallFilter } from "./system-call-filter.ts";

/** Arguments: the numbers of `prctl` and `seccomp`, the filter, the rules (a kind and a path per line), the command. */
const SCRIPT = `
use strict;
my ($prctl, $seccomp, $filter, $rules, @command) = @ARGV;
my ($create_ruleset, $add_rule, $restrict_self) = (444, 445, 446);
my $version = syscall($create_ruleset, 0, 0, 1);
syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
if ($version > 0) {
  my $files = $version >= 5 ? 0xffff : $version >= 3 ? 0x7fff : $version >= 2 ? 0x3fff : 0x1fff;
  my $attributes = pack("QQQ", $files, $version >= 4 ? 3 : 0, $version >= 6 ? 3 : 0);
  my $ruleset = syscall($create_ruleset, $attributes, $version >= 6 ? 24 : $version >= 4 ? 16 : 8, 0);
  die "landlock: $!" if $ruleset < 0;
  for my $line (split /\\n/, $rules) {
    my ($kind, $path) = split / /, $line, 2;
    sysopen(my $file, $path, 010000000 | 02000000) or next;
    my $access = $kind eq "execute" ? 5 : $kind eq "write" ? 6 : -d $path ? 12 : 4;
    my $rule = pack("Ql", $access, fileno($file));
    syscall($add_rule, $ruleset, 1, $rule, 0) == 0 or die "landlock rule for $path: $!";
  }
  syscall($restrict_self, $ruleset, 0) == 0 or die "landlock: $!";
}
my $code = pack("H*", $filter);
my $program = pack("S x![P] P", length($code) / 8, $code);
syscall($seccomp, 1, 0, $program) == 0 or die "seccomp: $!";
exec { $command[0] } @command or die "exec: $!";
`;

const CALLS: Record<string, [prctl: number, seccomp: number]> = { x64: [157, 317], arm64: [167, 277] };

const SOURCE_FOLDER = fileURLToPath(new URL("../../", import.meta.url));
const LOADERS = [
  ...["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"],
  ...["/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"],
];
/** Shared libraries, and what Node and native packages read about the machine. */
const SYSTEM_PATHS = [
  ...["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf"],
  ...["/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/dev/urandom"],
];

/**
 * Undefined on another system or machine. `program` and `readable` are the only files beside the server's, and
 * `executable` is the only file that can be executed.
 */
export function filteredCommand(
  program: string,
  readable: string[] = [],
  executable: string = process.execPath,
): string[] | undefined {
  const filter = buildSystemCallFilter();
  const calls = CALLS[process.arch];
  if (process.platform !== "linux" || !filter || !calls) return undefined;
  const readablePaths = [
    ...SYSTEM_PATHS,
    ...[SOURCE_FOLDER, dirname(program), ...packageFolders(), ...readable],
    ...[SOURCE_FOLDER, program].flatMap(packageFilesAbove),
  ];
  const rules = [
    ...[executable, ...LOADERS].map((path) => `execute ${path}`),
    ...readablePaths.map((path) => `read ${path}`),
    "write /dev/null",
  ];
  return ["perl", "-e", SCRIPT, ...calls.map(String), filter, rules.join("\n")];
}

/** The `node_modules` folders that packages of the server are loaded from. */
const packageFolders = (): string[] =>
  foldersAbove(SOURCE_FOLDER)
    .map((folder) => join(folder, "node_modules"))
    .filter(existsSync);

/** Node reads them to know the type of a module. */
const packageFilesAbove = (path: string): string[] => foldersAbove(path).map((folder) => join(folder, "package.json"));

function foldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...foldersAbove(parent)];
}
