import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { requirements } from './requirements.ts';

const root = resolve(import.meta.dirname, '..');
const textFile = /\.(?:ts|tsx|mjs|js|json|md|ya?ml|css|html|sh)$/;
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => textFile.test(file) && file !== 'package-lock.json' && existsSync(join(root, file)))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

/** The only files that may name a folder beside the repository. They look for corpora and also work without them. */
const mayLookOutside = new Set(['test/support/corpus.ts', 'test/citations.test.ts']);

/** Returns the relative paths in a text that lead out of the repository, resolved from the folder of the file. */
function outsidePaths(file: string, text: string): string[] {
  const paths = text.match(/(?<![\w./])(?:\.\.\/)+[\w@][\w@./-]*/g) ?? [];
  return paths.filter((path) => relative(root, resolve(root, dirname(file), path)).startsWith('..'));
}

function headingsOf(text: string): Set<string> {
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading));
}

const contract = headingsOf(readFileSync(join(root, 'docs/contract.md'), 'utf8'));
const decisions = new Set(readdirSync(join(root, 'docs/decisions')).map((name) => name.slice(0, 4)));

test('no file names a path outside of the repository', () => {
  assert.ok(files.length > 1000, `only ${files.length} files`);
  const found = files
    .filter(({ file }) => !mayLookOutside.has(file))
    .flatMap(({ file, text }) => {
      const siblings = text.match(/(?:\.\.\/)+shared\b/g) ?? [];
      return [...outsidePaths(file, text), ...siblings].map((path) => `${file}: ${path}`);
    });
  assert.deepEqual(found, []);
});

test('a path that leaves the repository is recognised', () => {
  assert.deepEqual(outsidePaths('test/a.ts', "import '../../shared/x'; import '../packages/y';"), ['../../shared/x']);
});

test('every citation of the contract names a heading that exists', () => {
  const cited = files.flatMap(({ file, text }) =>
    [...text.matchAll(/docs\/contract\.md "([^"]+)"/g)].map(([, heading = '']) => ({ file, heading })),
  );
  assert.ok(cited.length > 80, `only ${cited.length} citations`);
  const examples = new Set(['Heading']);
  assert.deepEqual(
    cited.filter(
      ({ file, heading }) => !contract.has(heading) && !examples.has(heading) && file !== 'test/citations.test.ts',
    ),
    [],
  );
});

test('every citation of a decision names a record that exists', () => {
  const cited = files.flatMap(({ file, text }) =>
    [...text.matchAll(/\bADR (\d{4})\b/g)].map(([, number = '']) => ({ file, number })),
  );
  assert.ok(cited.length > 20, `only ${cited.length} citations`);
  assert.deepEqual(
    cited.filter(({ number }) => !decisions.has(number)),
    [],
  );
});

test('at most 71 decision records exist, and each is at most a page', () => {
  const records = files.filter(({ file }) => /^docs\/decisions\/\d/.test(file));
  assert.ok(records.length > 20 && records.length <= 71, `${records.length} records`);
  assert.deepEqual(
    records.filter(({ text }) => text.trimEnd().split('\n').length > 60).map(({ file }) => file),
    [],
  );
});

test('every requirement cites the contract or a decision, and nothing else', () => {
  const source = /^(?:docs\/contract\.md "[^"]+"|ADR \d{4})$/;
  assert.deepEqual(
    requirements.filter((requirement) => !requirement.source.split('; ').every((one) => source.test(one))),
    [],
  );
});
