// `npm test` runs `check` and every test of the repository, and needs nothing beside it; with arguments it runs only those
// test files. `npm run test:corpus` (`--corpus`) runs the checks on documents of others (`*.corpus.test.ts`). One
// PostgreSQL server serves the whole run. The output ends with the summary of node:test.
import { spawn, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { corpusRoot, hasCorpus } from '../test/support/corpus.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { installSystemTools } from '../test/support/system-tools.ts';

const isCorpusRun = process.argv[2] === '--corpus';
const wanted = process.argv.slice(isCorpusRun ? 3 : 2);
if (isCorpusRun && !hasCorpus()) {
  console.log(`test:corpus: no corpus in ${corpusRoot}; nothing was checked.`);
  console.log('test:corpus: set QUARTERMASTER_CORPUS to a folder that holds corpus/manifest.jsonl and openapi/.');
  process.exit(0);
}
if (wanted.length === 0 && !isCorpusRun) {
  const { status } = spawnSync('node', ['scripts/check.mjs'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const ofCorpus = /\.corpus\.test\.ts$/;
const files =
  wanted.length > 0
    ? wanted
    : globSync(['packages/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts'])
        .filter((file) => ofCorpus.test(file) === isCorpusRun)
        .sort();
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
