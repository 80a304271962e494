// Loaded before each unit test (`--import`), and in the processes that it starts. It refuses to start the service, or a
// system program that is not on every machine. The test then fails even if it catches the error.
import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const refused =
  /(?:^|[/\s'"])(?:bwrap|unshare|chromium|postgres|initdb|pg_(?:ctl|basebackup|dump|restore)|psql|pgbouncer|gcc|python3|mypy|zsh|fish)(?=$|[\s'"])|packages\/(?:server|cli)\/src\/main\.ts/;

function check(file: string, args: readonly string[] = []): void {
  const found = [file, ...args].find((word) => refused.test(word));
  if (found === undefined) return;
  const error = new Error(
    `A unit test starts neither programs of the system nor the service; this one starts: ${found}`,
  );
  process.on('exit', () => {
    // The stack names the test file, also when several files share the process.
    console.error(error);
    process.exitCode = 1;
  });
  throw error;
}

interface Spawning {
  spawn(options: { readonly file: string; readonly args?: readonly string[] }): unknown;
}

// Every asynchronous function of the module calls this method, which Node.js does not declare.
const prototype = ChildProcess.prototype as unknown as Spawning;
const { spawn } = prototype;
prototype.spawn = function (this: Spawning, options) {
  check(options.file, options.args);
  return spawn.call(this, options);
};

const { spawnSync, execFileSync, execSync } = childProcess;
Object.assign(childProcess, {
  spawnSync: ((file: string, ...rest: never[]) => {
    check(file, Array.isArray(rest[0]) ? rest[0] : []);
    return spawnSync(file, ...rest);
  }) satisfies (file: string, ...rest: never[]) => unknown,
  execFileSync: (file: string, ...rest: never[]) => {
    check(file, Array.isArray(rest[0]) ? rest[0] : []);
    return execFileSync(file, ...rest);
  },
  execSync: (command: string, ...rest: never[]) => {
    check(command);
    return execSync(command, ...rest);
  },
});
syncBuiltinESMExports();
