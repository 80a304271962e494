// `npm test` runs `*.test.ts`, except `*.system.test.ts`, `*.corpus.test.ts` and test/compat. `npm run test:all` runs the
// checks and everything, `--rest` what `npm test` leaves out, and `--corpus` the checks on documents of third parties. `npm
// test -- FILE …` runs those files. Nothing is installed into the system: the last line names the programs that tests need.
// With `--complete`, such a test fails the run.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { corpusRoot, hasCorpus } from '../test/support/corpus.ts';
import { judgeEvents } from '../test/support/judge-events.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { installCommand, isInstalled, tools, toolsNamed } from '../test/support/system-tools.ts';
import { installCompatPackages, installConsolePackages } from './set-up/install-packages.mjs';

const words = process.argv.slice(2);
const has = (option) => words.includes(option);
const wanted = words.filter((word) => !word.startsWith('--'));
const unknown = words.filter(
  (word) =>
    !['--all', '--rest', '--corpus', '--complete'].includes(word) && !(word.endsWith('.test.ts') && existsSync(word)),
);
if (unknown.length > 0) {
  console.error(`npm test: ${unknown.join(', ')}: no test file with this name. Name files that end in .test.ts.`);
  process.exit(1);
}

/**
 * The files that take longest, the longest first. They start first, because one that starts last leaves all processors but one
 * without work.
 */
const longest = [
  'test/acceptance/low-disk.system.test.ts',
  'test/acceptance/container.system.test.ts',
  'test/extraction-scores.corpus.test.ts',
  'test/acceptance/embedding-swap-kills.system.test.ts',
  'test/compat/recipes.corpus.test.ts',
  'test/vector-scores.corpus.test.ts',
  'test/compat/vendors.corpus.test.ts',
  'test/acceptance/backup.system.test.ts',
  'test/retrieval-scores.corpus.test.ts',
  'test/acceptance/install.system.test.ts',
  'test/acceptance/python-client.system.test.ts',
  'test/acceptance/packages.system.test.ts',
  'test/acceptance/registry.system.test.ts',
  'packages/server/src/stores/ingestion/record-kills.system.test.ts',
  'packages/server/src/tools/execution/sandbox/hostile/hostile.system.test.ts',
  'test/acceptance/console-pages.system.test.ts',
  'test/acceptance/damaged-store.system.test.ts',
  'test/question-scores.corpus.test.ts',
  'test/acceptance/move.system.test.ts',
  'test/exact-questions.system.test.ts',
  'test/acceptance/nodes.system.test.ts',
  'test/acceptance/stores-under-kills.system.test.ts',
  'test/acceptance/many-nodes.system.test.ts',
  'test/acceptance/unused-answers.system.test.ts',
  'test/acceptance/embedding-guides.system.test.ts',
  'test/acceptance/console-accessibility.system.test.ts',
  'packages/server/src/access/accounts/accounts.system.test.ts',
  'test/acceptance/credential-profiles.system.test.ts',
  'test/acceptance/authorisation.test.ts',
  'test/acceptance/lifecycle.test.ts',
  'packages/server/src/tools/execution/sandbox/pool.test.ts',
  'packages/server/src/storage/s3/s3-blob-store.test.ts',
  'packages/server/src/storage/search-index/sqlite-search-index.test.ts',
  'packages/server/src/storage/repositories/bundle-archives.test.ts',
  'test/acceptance/mcp-knowledge.test.ts',
  'packages/server/src/storage/database/copy-tables.test.ts',
  'test/acceptance/audit-log.test.ts',
  'packages/server/src/tools/pieces/pieces.test.ts',
  'packages/server/src/stores/collections/records/records.test.ts',
  'packages/importers/src/openapi/hostile-documents.test.ts',
];
const isAll = has('--all') && !has('--rest');
const isCorpus = (file) => file.endsWith('.corpus.test.ts');
const isOfRest = (file) => /\.(?:system|corpus)\.test\.ts$|^test\/compat\//.test(file);
const started = Date.now();
const files = chooseFiles();
if (files.some(isCorpus) && !hasCorpus()) {
  console.log(`npm test: no corpus in ${corpusRoot}; its documents are not checked.`);
  console.log('npm test: set QUARTERMASTER_CORPUS to a folder that holds corpus/manifest.jsonl and openapi/.');
}
const runnable = hasCorpus() ? files : files.filter((file) => !isCorpus(file));
await Promise.all([
  ...(runnable.some((file) => file.startsWith('test/compat/')) ? [installCompatPackages()] : []),
  // Several of these tests build the console at the same time, and those of the site need its packages. A build that finds its
  // packages does not remove them.
  ...(runnable.some((file) => isOfRest(file) || file.startsWith('packages/console/src/site/'))
    ? [installConsolePackages()]
    : []),
]);
if (isAll && spawnSync('node', ['scripts/check.mjs'], { stdio: 'inherit' }).status !== 0) process.exit(1);
const { passed, failed, needing, missing } = await runFiles(runnable);
const names = [...missing].sort();
if (names.length > 0) {
  console.log(`npm test: to run all tests: ${installCommand(tools.filter(({ name }) => names.includes(name)))}`);
}
const parts = [
  `${passed} passed`,
  ...(failed > 0 ? [`${failed} FAILED`] : []),
  ...(needing > 0 ? [`${needing} need ${names.join(', ')}`] : []),
];
console.log(`npm test: ${parts.join(', ')} (${((Date.now() - started) / 1000).toFixed(0)} s)`);
process.exit(failed > 0 || (has('--complete') && needing > 0) ? 1 : 0);

function chooseFiles() {
  if (wanted.length > 0) return wanted;
  const all = globSync(['packages/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts'], {
    exclude: (path) => path.endsWith('node_modules'),
  });
  const gone = longest.filter((file) => !all.includes(file));
  if (gone.length > 0) throw new Error(`scripts/test.mjs names ${gone.join(', ')}, which does not exist.`);
  const place = (file) => (longest.includes(file) ? longest.indexOf(file) : longest.length);
  all.sort((one, other) => place(one) - place(other) || (one < other ? -1 : 1));
  if (isAll) return all;
  if (has('--corpus')) return all.filter(isCorpus);
  return all.filter((file) => isOfRest(file) === has('--rest'));
}

/** Runs the files, which share a folder (`QUARTERMASTER_TEST_SHARED`) and a server of PostgreSQL. */
async function runFiles(chosen) {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-tests-'));
  chmodSync(folder, 0o755); // a service of an ordinary user is installed from its archives
  const verdict = { passed: 0, failed: 0, needing: 0, missing: new Set() };
  const postgres =
    wanted.length === 0 && toolsNamed('postgresql').every(isInstalled) ? await startPostgres() : undefined;
  Object.assign(process.env, {
    // Compilation takes half of the time of a short test.
    NODE_COMPILE_CACHE: resolve('node_modules/.cache/tests'),
    QUARTERMASTER_TEST_SHARED: folder,
    ...(postgres === undefined ? {} : { QUARTERMASTER_TEST_POSTGRES: postgres.url }),
  });
  try {
    const events = run({
      files: chosen.map((file) => resolve(file)),
      // One file more than there are processors, because many tests wait for other processes. With two more, waits with a
      // time limit failed on a busy machine.
      concurrency: availableParallelism() + 1,
      // `file-time-limit.ts` ends a file earlier, unless its event loop is blocked.
      timeout: 3_600_000,
      execArgv: ['file-time-limit', 'untracked-promises'].map(
        (name) => `--import=${pathToFileURL(resolve(`test/support/${name}.ts`)).href}`,
      ),
    });
    for await (const text of Readable.from(judgeEvents(events, verdict)).compose(new spec())) {
      process.stdout.write(text);
    }
    return verdict;
  } finally {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
