import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaLimits, readContents } from './result-contents.ts';

const absent = async () => undefined;
const readMedia = { readArtifact: absent, toPng: absent, storesArtifacts: true };

/** Reads the contents of a result whose tool returned these contents beside a structured output. */
async function pass(contents: readonly Record<string, unknown>[]) {
  const read = await readContents({ data: { n: 1 }, contents: [...contents] }, readMedia);
  const note = read.contents.find(({ type }) => type === 'text');
  const leftOut = /leaves out: (\d+)\./.exec(note?.type === 'text' ? note.text : '')?.[1];
  return { types: read.contents.map(({ type }) => type), leftOut: Number(leftOut ?? 0), contents: read.contents };
}

const pngOf = (bytes: number, first: number) =>
  Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(bytes - 8, first)]).toString('base64');
const picture = (first: number, bytes = 200) => ({ type: 'image', mimeType: 'image/png', data: pngOf(bytes, first) });
const many = <T>(count: number, one: (index: number) => T) => Array.from({ length: count }, (_, index) => one(index));

test('pictures of an imported server are passed on up to the limit mcp_result_media, and a note counts the others', async () => {
  const at = await pass(many(mediaLimits.blocks, picture));
  assert.deepEqual([at.types.length, at.leftOut], [mediaLimits.blocks, 0]);
  const above = await pass(many(mediaLimits.blocks + 2, picture));
  assert.deepEqual(above.types, [...many(mediaLimits.blocks, () => 'image'), 'text']);
  assert.equal(above.leftOut, 2);
});

test('pictures of an imported server have the limit mcp_result_media_bytes together', async () => {
  const half = mediaLimits.bytes / 2;
  assert.deepEqual((await pass([picture(1, half), picture(2, half)])).types, ['image', 'image']);
  const above = await pass([picture(1, half), picture(2, half + 1)]);
  assert.deepEqual([above.types, above.leftOut], [['image', 'text'], 1]);
});

test('links of an imported server have the limit mcp_result_links, and a note counts the others', async () => {
  const link = (index: number) => ({ type: 'resource_link', uri: `https://example.com/${index}`, name: 'page' });
  const at = await pass(many(mediaLimits.links, link));
  assert.deepEqual([at.types.length, at.leftOut], [mediaLimits.links, 0]);
  assert.equal((await pass(many(mediaLimits.links + 3, link))).leftOut, 3);
});

test('a note of the service about contents that it left out reaches the client', async () => {
  const note = { type: 'text', text: 'A content of 9 bytes was left out because of its size.' };
  assert.deepEqual((await pass([note])).contents, [note]);
});

test('a content that cannot be read is counted', async () => {
  const { types, leftOut } = await pass([{ type: 'resource_link', uri: 1 }, { type: 'unknown' }]);
  assert.deepEqual([types, leftOut], [['text'], 2]);
});
