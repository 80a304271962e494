import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecuteResult, OutputArtifact } from '@quartermaster/contract';
import { Problem } from '../../platform/problem.ts';
import { maxTextCharacters, resultOfProblem, resultOfRun } from './call-result.ts';
import type { ReadMedia } from './result-contents.ts';

const run = (data: unknown, more: Partial<ExecuteResult> = {}): ExecuteResult => ({
  status: 200,
  data,
  run_id: 'run1',
  duration_ms: 1.5,
  ...more,
});

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(200, 1)]);
const wav = Buffer.concat([Buffer.from('RIFF....WAVE'), Buffer.alloc(200, 2)]);
const absent = async () => undefined;
const nothing = { readArtifact: absent, toPng: absent, storesArtifacts: true };

const artifactAt = (path: string, more: Partial<OutputArtifact> = {}): OutputArtifact => ({
  ...{ object: 'Artifact', artifact_id: 'arti1', run_id: 'run1', file_name: 'a.png', media_type: 'image/png' },
  ...{
    bytes: png.length,
    sha256: '',
    file_url: `http://h/${more.artifact_id ?? 'a'}`,
    created_timestamp: 1,
    expires_timestamp: 2,
    path,
  },
  ...more,
});

test('pictures and sounds of an output are contents, once each; the text and the structure hold no base64', async () => {
  const image = png.toString('base64');
  const output = { list: [`data:image/png;base64,${image}`, { deep: wav.toString('base64') }], again: image, n: 1 };
  const { content, structuredContent } = await resultOfRun(
    run(output, { artifacts: [artifactAt('/list/0')] }),
    nothing,
  );
  const shown = {
    list: ['data:image/png;base64,artifact:arti1', { deep: '(audio/wav, 212 bytes)' }],
    again: '(image/png, 208 bytes)',
    n: 1,
  };
  assert.deepEqual(structuredContent, shown);
  assert.match(noteOf(content)[0] ?? '', /^2 media of this output were not stored/);
  assert.deepEqual(content.slice(0, -1), [
    { type: 'text', text: JSON.stringify(shown) },
    { type: 'image', mimeType: 'image/png', data: image },
    { type: 'audio', mimeType: 'audio/wav', data: wav.toString('base64') },
    { type: 'resource_link', uri: 'http://h/a', name: 'a.png', mimeType: 'image/png', size: 208 },
  ]);
});

const svg = `<svg xmlns="http://www.w3.org/2000/svg">${' '.repeat(100)}</svg>`;
const svgUrl = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;

const noteOf = (content: readonly { type: string; text?: string }[]) =>
  content.flatMap(({ type, text = '' }, index) => (type === 'text' && index > 0 ? [text] : []));

test('media that are not stored stay in the result, once each and without base64 in its text, with the reason', async () => {
  const long = Buffer.concat([png, Buffer.alloc(3 * 1024 * 1024, 1)]);
  const pdf = Buffer.concat([Buffer.from('%PDF-1.7'), Buffer.alloc(100, 3)]);
  const output = { small: png.toString('base64'), 'a b': [long.toString('base64'), long.toString('base64')], svg };
  const { content, structuredContent } = await resultOfRun(run(output), nothing);
  const uri = 'output:/a%20b/0';
  assert.deepEqual(structuredContent, { small: `(image/png, ${png.length} bytes)`, 'a b': [uri, uri], svg });
  assert.deepEqual(content.slice(1, -1), [
    { type: 'image', mimeType: 'image/png', data: png.toString('base64') },
    { type: 'resource', resource: { uri, mimeType: 'image/png', blob: long.toString('base64') } },
  ]);
  assert.match(noteOf(content)[0] ?? '', /^4 media of this output were not stored, because a limit .* is reached/);
  const off = await resultOfRun(run({ url: `data:application/pdf;base64,${pdf.toString('base64')}` }), {
    ...nothing,
    storesArtifacts: false,
  });
  assert.deepEqual(off.structuredContent, { url: 'data:application/pdf;base64,output:/url' });
  assert.match(
    noteOf(off.content)[0] ?? '',
    /^One picture .* because this service stores no artifacts\. This result holds/,
  );
});

test('media beyond the number that is stored stay in the result', async () => {
  const images = Array.from({ length: 90 }, (_, index) => Buffer.concat([png, Buffer.from([index, 0])]));
  const data = { images: images.map((image) => image.toString('base64')) };
  const artifacts = images
    .slice(0, 64)
    .map((_, index) => artifactAt(`/images/${index}`, { artifact_id: `arti${index}` }));
  const { content, structuredContent } = await resultOfRun(run(data, { artifacts }), nothing);
  const texts = [JSON.stringify(structuredContent), JSON.stringify(content.filter(({ type }) => type === 'text'))];
  for (const text of texts) assert.ok(!text.includes('iVBORw0KGgo'));
  const count = (wanted: string) => content.filter(({ type }) => type === wanted).length;
  assert.deepEqual([count('image'), count('resource_link'), count('resource')], [4, 64, 26]);
  assert.match(noteOf(content)[0] ?? '', /^26 media .* because at most 64 of one output are stored/);
});

test('a stored picture is read; one that is too large, and what is no picture, is a link only', async () => {
  const data = { a: 'artifact:arti1', b: 'artifact:arti2', c: 'artifact:arti3' };
  const artifacts = [
    artifactAt('/a'),
    artifactAt('/b', { artifact_id: 'arti2', bytes: 3 * 1024 * 1024 }),
    artifactAt('/c', { artifact_id: 'arti3', media_type: 'application/pdf', file_name: 'a.pdf' }),
  ];
  const asked: string[] = [];
  const readArtifact = async ({ artifact_id: id }: OutputArtifact) => {
    asked.push(id);
    return png;
  };
  const { content, structuredContent } = await resultOfRun(run(data, { artifacts }), { ...nothing, readArtifact });
  assert.deepEqual(asked, ['arti1']);
  assert.deepEqual(structuredContent, data);
  assert.deepEqual(
    content.map((block) => block.type),
    ['text', 'image', 'resource_link', 'resource_link', 'resource_link'],
  );
  const gone = await resultOfRun(run(data, { artifacts }), nothing);
  assert.equal(gone.content.filter(({ type }) => type === 'image').length, 0);
});

test('an SVG picture is converted once, also a stored one; beside a picture, or after a failed conversion, it is a link', async () => {
  const converted: string[] = [];
  const read = {
    readArtifact: async () => Buffer.from(svg),
    storesArtifacts: true,
    toPng: async (bytes: Uint8Array) => {
      converted.push(Buffer.from(bytes).toString());
      return png;
    },
  };
  const artifacts = [artifactAt('/url', { media_type: 'image/svg+xml', file_name: 'a.svg' })];
  const block = { type: 'image', mimeType: 'image/png', data: png.toString('base64') } as const;
  const typesOf = async (data: unknown, more: ReadMedia = read) =>
    (await resultOfRun(run(data, { artifacts }), more)).content.map(({ type }) => type);
  const twice = { artifacts: [...artifacts, artifactAt('/svg', { media_type: 'image/svg+xml', file_name: 'a.svg' })] };
  const { content, structuredContent } = await resultOfRun(run({ url: svgUrl, svg }, twice), read);
  assert.deepEqual([content[1], content[2]?.type, content.length], [block, 'resource_link', 3]);
  assert.deepEqual(structuredContent, { url: 'data:image/svg+xml;base64,artifact:arti1', svg: 'artifact:arti1' });
  assert.deepEqual(await typesOf({ url: 'data:image/svg+xml;base64,artifact:arti1' }), [
    'text',
    'image',
    'resource_link',
  ]);
  assert.deepEqual(converted, [svg, svg]);
  assert.deepEqual(await typesOf({ url: svgUrl, png: png.toString('base64') }), [
    'text',
    'image',
    'resource_link',
    'text',
  ]);
  assert.equal(converted.length, 2);
  assert.deepEqual(await typesOf({ url: svgUrl }, { ...read, toPng: absent }), ['text', 'resource_link']);
});

test('the limit mcp_result_text_characters: a large output is sent once, and its text is cut with a note', async () => {
  const outputOf = (characters: number) => ({ text: 'x'.repeat(characters - '{"text":""}'.length) });
  const at = outputOf(maxTextCharacters);
  const whole = [{ type: 'text', text: JSON.stringify(at) }];
  assert.deepEqual((await resultOfRun(run(at), nothing)).content, whole);
  const large = outputOf(900_000);
  const { content, structuredContent, isError } = await resultOfRun(run(large), nothing);
  assert.deepEqual([structuredContent, isError], [large, undefined]);
  const [text, note, ...others] = content;
  assert.deepEqual(text, { type: 'text', text: JSON.stringify(large).slice(0, maxTextCharacters) });
  assert.match(
    note?.type === 'text' ? note.text : '',
    /^The output has 900000 characters .* first 65536; structuredContent holds all/,
  );
  assert.deepEqual(others, []);
  // A surrogate pair that is cut stays valid Unicode.
  const emoji = { text: `${'x'.repeat(maxTextCharacters - 10)}${'😀'.repeat(10)}` };
  const [cut] = (await resultOfRun(run(emoji), nothing)).content;
  assert.ok(cut?.type === 'text' && cut.text.isWellFormed());
  // A client that does not read structured content, and a result without it, get all of the text.
  const old = await resultOfRun(run(large), nothing, { readsStructure: false });
  assert.deepEqual(old.content, [{ type: 'text', text: JSON.stringify(large) }]);
  const drifted = await resultOfRun(run([large]), nothing);
  assert.deepEqual(drifted.content.at(-1), { type: 'text', text: JSON.stringify([large]) });
});

test('an output that is stored whole is a link, with a note that the plugin ran', async () => {
  const artifacts = [artifactAt('', { media_type: 'application/json', file_name: 'a.json' })];
  const { content, isError } = await resultOfRun(run('artifact:arti1', { artifacts }), nothing);
  assert.equal(isError, true);
  assert.match(
    content[0]?.type === 'text' ? content[0].text : '',
    /^The plugin ran, .* Do not run the plugin again\.$/,
  );
  assert.equal(content[1]?.type, 'resource_link');
});

test('links of an imported server are passed on; other blocks stay data', async () => {
  const link = { type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/plain' };
  const blocks = [
    { type: 'image', data: png.toString('base64'), mimeType: 'image/png' },
    link,
    { type: 'resource_link', uri: 1 },
    { type: 'resource_link', uri: 'x'.repeat(3000), name: 'long' },
    { type: 'ui', uri: 'ui://x' },
  ];
  const { content } = await resultOfRun(run({ text: 'done', content: blocks }), nothing);
  assert.deepEqual(content.slice(1, -1), [
    { type: 'image', mimeType: 'image/png', data: png.toString('base64') },
    link,
  ]);
  assert.match(noteOf(content)[0] ?? '', /not stored/);
});

test('an output that does not match its schema is returned as text, with its media, marked so that clients accept it', async () => {
  const violations = [{ path: '/a', found: 'a number (1)', expected: 'a string' }];
  for (const result of [
    await resultOfRun(run({ a: 1 }, { output_violations: violations }), nothing),
    await resultOfRun(run([1]), nothing),
    await resultOfRun(run(null), nothing),
  ]) {
    assert.deepEqual([result.isError, result.structuredContent], [true, undefined]);
    assert.equal(result.content.length, 2);
  }
  const { content, _meta } = await resultOfRun(run({ a: 1 }, { output_violations: violations }), nothing);
  assert.deepEqual(content[1], { type: 'text', text: '{"a":1}' });
  assert.deepEqual(_meta, {
    'quartermaster/run': { run_id: 'run1', duration_ms: 1.5 },
    'quartermaster/output-violations': violations,
  });
  const pictured = run({ a: png.toString('base64') }, { output_violations: violations, artifacts: [artifactAt('/a')] });
  assert.deepEqual(
    (await resultOfRun(pictured, nothing)).content.map(({ type }) => type),
    ['text', 'text', 'image', 'resource_link'],
  );
});

test('a failed result has a message for the model, the code, the details and the excerpt', () => {
  const details = [
    { path: 'body/input_params/a', found: 'nothing', expected: 'a value' },
    { path: 'body/input_params/b', found: '"xyz"', expected: 'a string of at most 2 characters' },
  ];
  const problem = new Problem('REQUEST_VALIDATION_ERROR', 'body/input_params/a is required.', { details });
  const { content, isError, structuredContent, _meta } = resultOfProblem(problem, null);
  assert.deepEqual([isError, structuredContent], [true, undefined]);
  assert.deepEqual(content, [
    {
      type: 'text',
      text: 'arguments/a is required.\narguments/b must be a string of at most 2 characters; received "xyz".',
    },
  ]);
  assert.deepEqual(_meta?.['quartermaster/error'], { code: problem.code, message: problem.message, details });

  const upstream = new Problem('PROVIDER_ERROR', 'The third party failed: no.', {
    details: [{ run_id: 'r', upstream_status: 503, excerpt: 'busy' }],
  });
  assert.deepEqual(resultOfProblem(upstream, 'A hint.').content, [
    { type: 'text', text: 'The third party failed: no.\nThe third party answered (status 503): busy\nA hint.' },
  ]);
});
