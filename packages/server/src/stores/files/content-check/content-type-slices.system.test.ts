import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, type Zippable, zipSync } from 'fflate';
import { Problem } from '../../../platform/problem.ts';
import { mostSearchedEntries, readZipEntry } from '../../../platform/zip.ts';
import { checkContent } from './content-type-check.ts';

const partName = '[Content_Types].xml';
const otherType = 'application/vnd.ms-a.main+xml ';
const wordType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';

function contentOf(bytes: Uint8Array) {
  const all = Buffer.from(bytes);
  const read: number[] = [];
  return {
    read,
    content: {
      bytes: all.length,
      read: async (at: number, length: number) => {
        read.push(length);
        return all.subarray(at, at + length);
      },
    },
  };
}

const checkWhileCounting = (types: string) => checkArchive({ [partName]: strToU8(types) });

/** Returns the result and the number of iterations of the event loop until then. */
async function checkArchive(entries: Zippable): Promise<{ said: string | undefined; numIterations: number }> {
  const { content } = contentOf(zipSync(entries));
  let numIterations = 0;
  let isRunning = true;
  const count = () => {
    numIterations += 1;
    if (isRunning) setImmediate(count);
  };
  setImmediate(count);
  try {
    await checkContent('docx', content);
    return { said: undefined, numIterations: numIterations };
  } catch (error) {
    assert.ok(error instanceof Problem && error.status === 422, `${error}`);
    return { said: error.message, numIterations: numIterations };
  } finally {
    isRunning = false;
  }
}

test('content types are read in slices, between which the event loop runs', async () => {
  const filling = otherType.repeat(Math.floor((900 * 1024) / otherType.length));
  const missing = await checkWhileCounting(filling);
  assert.match(missing.said ?? '', /a package whose main part is a/);
  assert.ok(missing.numIterations >= 14, `${missing.numIterations} turns for 15 slices`);
  assert.equal((await checkWhileCounting(`${filling}${wordType}`)).said, undefined, 'found in the last slice');
  assert.equal(
    (await checkWhileCounting(`${' '.repeat(64 * 1024 - 20)}${wordType}`)).said,
    undefined,
    'across two slices',
  );
});

test('content types that would unpack to more than a megabyte are not unpacked', async () => {
  const { said } = await checkWhileCounting(`${wordType} ${otherType.repeat(140_000)}`);
  assert.match(said ?? '', /without a readable \[Content_Types\]\.xml/);
});

test('the check reads at most 10,000 entries and at most 2 MiB of a directory', async () => {
  const fillers = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, new Uint8Array()]));
  const within = contentOf(zipSync({ ...fillers(mostSearchedEntries - 1), [partName]: strToU8('x') }));
  assert.equal((await readZipEntry(within.content, partName, 100))?.toString(), 'x');
  const beyond = contentOf(zipSync({ ...fillers(mostSearchedEntries), [partName]: strToU8('x') }));
  assert.equal(await readZipEntry(beyond.content, partName, 100), undefined);
  const large = contentOf(zipSync({ [partName]: strToU8('x'), ...fillers(50_000) }));
  assert.equal((await readZipEntry(large.content, partName, 100))?.toString(), 'x');
  assert.ok(Math.max(...large.read) <= 2 * 1024 * 1024, `${large.read}`);
});

test('the event loop runs other work while a directory of many entries is searched', async () => {
  const entries = Array.from({ length: mostSearchedEntries }, (_, index) => [`f${index}`, new Uint8Array()]);
  const { said, numIterations } = await checkArchive(Object.fromEntries(entries));
  assert.match(said ?? '', /without a readable/);
  assert.ok(numIterations >= mostSearchedEntries / 200, `${numIterations} iterations`);
});
