// `npm test`: first `check`, then every test; with arguments, only those test files. One PostgreSQL server serves the
// whole run. Ends with the lines of node:test's own reporter.
import { spawn, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { startPostgres } from '../test/support/postgres.ts';
import { installSystemTools } from '../test/support/system-tools.ts';

const wanted = process.argv.slice(2);
if (wanted.length === 0) {
  const { status } = spawnSync('node', ['scripts/check.mjs'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const files = wanted.length > 0 ? wanted : globSync(['packages/*/src/**/*.test.ts', 'test/**/*.test.ts']).sort();
await installSystemTools();
const postgres = await startPostgres();
try {
  process.exitCode = await run('node', [
    '--test',
    `--test-concurrency=${availableParallelism()}`,
    '--test-reporter=spec',
    '--test-timeout=600000',
    ...files,
  ]);
} finally {
  await postgres.stop();
}

/** @returns {Promise<number>} the exit code */
function run(command, args) {
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, QUARTERMASTER_TEST_POSTGRES: postgres.url },
  });
  const pass = (signal) => child.kill(signal);
  process.on('SIGINT', pass);
  process.on('SIGTERM', pass);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
