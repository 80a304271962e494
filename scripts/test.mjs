// `npm test` runs the tiers `check`, `test:unit`, `test` and `test:system`, and prints the seconds of each. `npm test --
// FILE …` runs those files. `--unit`, `--service` and `--system` run only the tier `test:unit`, `test` or `test:system`,
// and `--corpus` the checks on documents of third parties (`*.corpus.test.ts`). A run starts only what its files need.
// When system programs are missing and cannot be installed, it names them and skips the files that need them; with
// `--complete` it fails instead.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { corpusRoot, hasCorpus } from '../test/support/corpus.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { installCommand, listNames, provideTools } from '../test/support/system-tools.ts';
import { groupTestFiles, writeGroups } from '../test/support/test-groups.ts';
import { findTestFiles, findTestNeeds, tierOf } from '../test/support/test-needs.ts';
import { installCompatPackages } from './set-up/install-packages.mjs';

const tierFlags = { '--corpus': 'test:corpus', '--unit': 'test:unit', '--service': 'test', '--system': 'test:system' };
const flags = [...Object.keys(tierFlags), '--complete'];
const options = new Set(process.argv.slice(2).filter((word) => flags.includes(word)));
const wanted = process.argv.slice(2).filter((word) => !flags.includes(word));
const isComplete = options.has('--complete') || wanted.length > 0;
const support = (name) => pathToFileURL(resolve(import.meta.dirname, '../test/support', name)).href;

const unknown = wanted.filter((word) => !/\.test\.ts$/.test(word) || !existsSync(word));
if (unknown.length > 0) {
  console.error(`npm test: ${unknown.join(', ')}: no test file with this name. Name files that end in .test.ts.`);
  process.exit(1);
}

if (options.has('--corpus') && !hasCorpus()) {
  console.log(`test:corpus: no corpus in ${corpusRoot}; nothing was checked.`);
  console.log('test:corpus: set QUARTERMASTER_CORPUS to a folder that holds corpus/manifest.jsonl and openapi/.');
  process.exit(0);
}
const needs = () => findTestFiles(options.has('--corpus') ? 'corpus' : 'own').map(findTestNeeds);
const isWhole = wanted.length === 0 && options.size === Number(options.has('--complete'));
const tiers = isWhole
  ? [
      { name: 'check', run: runCheck },
      ...['test:unit', 'test', 'test:system'].map((name) => ({ name, run: () => runTier(name) })),
    ]
  : [{ name: chosenTier() ?? 'files', run: runWanted }];

const results = [];
for (const { name, run } of tiers) {
  const started = Date.now();
  const result = await run();
  results.push({ name, seconds: (Date.now() - started) / 1000, ...result });
  if (name === 'check' && result.exitCode !== 0) break;
}
console.log('');
for (const { name, seconds, exitCode, counts, notRun = [] } of results) {
  const tests = counts === undefined ? '' : `, ${counts.tests} tests, ${counts.tests - counts.passed} not passed`;
  console.log(`tier ${name}: ${exitCode === 0 ? 'ok' : 'FAILED'}, ${seconds.toFixed(1)} s${tests}`);
  for (const line of notRun) console.log(`tier ${name}: ${line}`);
}
process.exitCode = results.some(({ exitCode }) => exitCode !== 0) ? 1 : 0;

function chosenTier() {
  return Object.entries(tierFlags).find(([flag]) => options.has(flag))?.[1];
}

async function runWanted() {
  if (wanted.length > 0) return await runFiles(wanted.map(findTestNeeds));
  return options.has('--corpus') ? await runFiles(needs()) : await runTier(chosenTier());
}

function runTier(name) {
  const files = needs().filter((file) => tierOf(file) === name);
  return name === 'test:unit' ? runUnit(files) : runFiles(files);
}

async function runCheck() {
  await installCompatPackages();
  const { status } = spawnSync('node', ['scripts/check.mjs'], { stdio: 'inherit' });
  return { exitCode: status ?? 1 };
}

/** Runs the unit tests under a guard that prevents them from starting system programs or the service. */
async function runUnit(files) {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-groups-'));
  try {
    return await runTests(writeGroups(folder, groupTestFiles(files.map(({ file }) => file))), {
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${support('unit-guard.ts')}`,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runFiles(files) {
  const missing = await provideTools([...new Set(files.flatMap(({ tools }) => tools))]);
  const leftOut = files.filter(({ tools }) => tools.some((tool) => missing.includes(tool)));
  const notRun =
    leftOut.length === 0
      ? []
      : [
          `${leftOut.length} of ${files.length} files were NOT RUN, because they need ${listNames(missing)}.`,
          `To run them, install these: ${installCommand(missing)}`,
        ];
  for (const line of notRun) console.error(line);
  if (isComplete && leftOut.length > 0) return { exitCode: 1, notRun };
  const runnable = files.filter((file) => !leftOut.includes(file));
  if (runnable.length === 0) return { exitCode: 0, notRun };
  const needsPostgres = runnable.some(({ tools }) => tools.some(({ name }) => name === 'postgresql'));
  const postgres = needsPostgres ? await startPostgres() : undefined;
  try {
    const environment = postgres === undefined ? {} : { QUARTERMASTER_TEST_POSTGRES: postgres.url };
    return {
      ...(await runTests(
        runnable.map(({ file }) => file),
        environment,
      )),
      notRun,
    };
  } finally {
    await postgres?.stop();
  }
}

async function runTests(files, environment) {
  if (files.some((file) => file.startsWith('test/compat/'))) await installCompatPackages();
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-tests-'));
  chmodSync(folder, 0o755); // a service of an ordinary user is installed from its archives
  const countFile = join(folder, 'counts.json');
  try {
    const exitCode = await run(
      'node',
      [
        '--test',
        // One file more than there are processors, because many tests wait for other processes.
        `--test-concurrency=${availableParallelism() + 1}`,
        '--test-timeout=600000',
        `--import=${support('file-time-limit.ts')}`,
        ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
        ...[`--test-reporter=${support('count-reporter.ts')}`, `--test-reporter-destination=${countFile}`],
        ...files,
      ],
      // Compilation takes half of the time of a short test.
      {
        NODE_COMPILE_CACHE: resolve('node_modules/.cache/tests'),
        // The folder for what one test file creates for all others.
        QUARTERMASTER_TEST_SHARED: folder,
        ...environment,
      },
    );
    return { exitCode, counts: JSON.parse(readFileSync(countFile, 'utf8') || '{"tests":0,"passed":0}') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns {Promise<number>} the exit code */
function run(command, args, environment) {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  const pass = (signal) => child.kill(signal);
  process.on('SIGINT', pass);
  process.on('SIGTERM', pass);
  return new Promise((done, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => done(code ?? 1));
  }).finally(() => {
    process.off('SIGINT', pass);
    process.off('SIGTERM', pass);
  });
}
