import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { startPostgres } from '../../test/support/postgres.ts';
import type { PartOptions, PartReport } from '../report.ts';

/** The tests that kill a process at chosen stages. `npm run test:all` runs them with one kill at each stage. */
const files = [
  'packages/server/src/stores/ingestion/record-kills.system.test.ts',
  'packages/server/src/stores/ingestion/reader-kills.system.test.ts',
  'packages/server/src/storage/search-index/index-kills.system.test.ts',
  'packages/server/src/storage/search-index/postgres/postgres-index-kills.system.test.ts',
  'test/acceptance/kill.system.test.ts',
  'test/acceptance/stores-under-kills.system.test.ts',
  'test/acceptance/embedding-kills.system.test.ts',
  'test/acceptance/embedding-swap-kills.system.test.ts',
];

/** Runs the tests about kills with every kill that they know. */
export async function repeatedKills({ findings, log }: PartOptions): Promise<PartReport> {
  const postgres = await startPostgres();
  let [passed, failed] = [0, 0];
  try {
    for (const file of files) {
      const output = await runTests(file, postgres.url);
      passed += countOf(output, 'pass');
      const count = countOf(output, 'fail');
      failed += count;
      log(`kills: ${file}: ${count} tests failed`);
      if (count > 0) findings.after(file).add('inconsistent', output.slice(-2_000));
    }
  } finally {
    await postgres.stop();
  }
  return {
    name: 'Repeated kills',
    cases: passed + failed,
    figures: { 'test files': files.length, tests: passed + failed },
  };
}

async function runTests(file: string, postgresUrl: string): Promise<string> {
  const child = spawn(process.execPath, ['--test', '--test-reporter=spec', resolve(file)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, QUARTERMASTER_TEST_KILLS: 'all', QUARTERMASTER_TEST_POSTGRES: postgresUrl },
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0 && countOf(output, 'fail') === 0)
    throw new Error(`${file} ended with ${code}: ${output.slice(-2_000)}`);
  return output;
}

/** Returns a number of the summary at the end of the output. */
function countOf(output: string, name: 'pass' | 'fail'): number {
  return Number(new RegExp(`^ℹ ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
}
