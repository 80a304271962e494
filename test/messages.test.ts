import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectMessages, findOpaqueProblems, readSources } from '../scripts/reference/messages/collect-messages.ts';
import { findLogFields } from '../scripts/reference/messages/log-fields.ts';
import { readSource } from '../scripts/reference/messages/source-file.ts';

function textsOf(code: string, file = 'packages/server/src/sample/sample.ts'): string[] {
  return collectMessages([readSource(file, code)]).map(({ kind, code: name, text }) =>
    `${kind} ${name} ${text}`.replace('  ', ' '),
  );
}

test('every kind of message is collected from the place that creates it', () => {
  const refuse =
    "export function refuse(name: string) { return new Problem('OBJECT_NOT_FOUND', 'No ' + name + ' here.'); }";
  assert.deepEqual(textsOf(refuse), ['problem OBJECT_NOT_FOUND No … here.']);
  assert.deepEqual(textsOf("throw new RangeError(isLong ? 'Too long.' : 'Too short.');"), [
    'error Too long.',
    'error Too short.',
  ]);
  assert.deepEqual(textsOf("request.log.warn({ n }, 'run requeued');"), ['log warn run requeued']);
  assert.deepEqual(textsOf("process.stderr.write('Stopped.');"), ['output Stopped.']);
  assert.deepEqual(textsOf("const end = { kind: 'failed', message: 'it failed' };"), ['outcome failed it failed']);
  const setting = 'packages/server/src/settings/sample.ts';
  assert.deepEqual(textsOf("const check = (ok: boolean) => (ok ? null : 'must be a port');", setting), [
    'setting must be a port',
  ]);
});

test('texts of the installation, the banner, bundles, reports and the doctor are collected', () => {
  const refuse = "export function refuse(text) { console.error('quartermaster: ' + text); }\nrefuse('It failed.');";
  assert.deepEqual(textsOf(refuse, 'scripts/set-up/refuse.mjs'), ['setup quartermaster: It failed.']);
  const banner = `const lines = ['kind', \`\${version} is ready.\`, row('an address', \`  \${name}\`)];`;
  assert.deepEqual(textsOf(banner, 'packages/server/src/service/banner.ts'), [
    'banner an address',
    'banner … is ready.',
  ]);
  const bundles = 'packages/server/src/catalogue/manifest/sample.ts';
  assert.deepEqual(textsOf("errors.add(['hosts'], 'Must be a host.');", bundles), ['manifest Must be a host.']);
  const describe = "function describeError(host) { return isKnown ? null : 'No host ' + host + '.'; }";
  assert.deepEqual(textsOf(describe, bundles), ['manifest No host ….']);
  const sheet =
    "const faults = { one: 'cut off', two: 'left open' } as const;\nwarn('Line ' + n + ' is ' + faults[kind]);";
  assert.deepEqual(textsOf(sheet, 'packages/server/src/extraction/sample.ts'), [
    'report Line … is cut off',
    'report Line … is left open',
  ]);
  assert.deepEqual(textsOf("yield_(ok('clock', 'It is exact.'));", 'packages/cli/src/doctor/sample.ts'), [
    'doctor clock It is exact.',
  ]);
});

test('a number that one caller computes is a gap, and so is an argument with a default', () => {
  const limited = (calls: string) => textsOf(`const limited = (n) => new RangeError('Wait ' + n + ' s.');\n${calls}`);
  assert.deepEqual(limited('limited(1); limited(Math.ceil(n));'), ['error Wait … s.']);
  assert.deepEqual(limited('limited(1);'), ['error Wait 1 s.']);
  assert.deepEqual(limited("limited(process.env.N || 'all');"), ['error Wait … s.']);
});

test('a text that is passed to a function is followed to its callers, and to theirs', () => {
  const code = `
    const invalid = (path: string, found: string) => new Problem('INVALID_REQUEST', \`\${path} is \${found}.\`);
    function bodyInvalid(found: string) { return invalid('body', found); }
    export const empty = () => bodyInvalid('empty');
    export function large(bytes: number) { return bodyInvalid(\`\${bytes} bytes\`); }`;
  assert.deepEqual(textsOf(code), [
    'problem INVALID_REQUEST body is empty.',
    'problem INVALID_REQUEST body is … bytes.',
  ]);
});

test('a text that another function of the file writes has the arguments of the call', () => {
  const code = `
    const mustBe = (path: string, expected: string) => \`\${path} must be \${expected}.\`;
    const invalid = (path: string, isUrl: boolean) =>
      new Problem('INVALID_REQUEST', mustBe(path, isUrl ? 'a URL' : 'a text'));
    export const urlInvalid = () => invalid('body/url', true);`;
  assert.deepEqual(textsOf(code), [
    'problem INVALID_REQUEST body/url must be a URL.',
    'problem INVALID_REQUEST body/url must be a text.',
  ]);
});

test('the text of every problem can be read from the code, except where an error of another place is passed on', () => {
  const sources = readSources();
  assert.ok(sources.length > 500, `only ${sources.length} files`);
  assert.ok(collectMessages(sources).length > 500);
  assert.deepEqual(findOpaqueProblems(sources), [
    'dialects/document-not-read.ts',
    'execution/credentials-header.ts',
    'execution/run-once.ts',
    'mcp/routes.ts',
  ]);
});

test('the fields of log lines have names in snake_case, and a duration is duration_ms', () => {
  const fieldsOf = (code: string) => [...findLogFields([readSource('packages/server/src/sample/sample.ts', code)])];
  assert.deepEqual(
    fieldsOf("const all = { ...(ok && { runId }), of: { ms: 1 } };\nlog.info(ok ? all : { err }, 'run ended');"),
    ['runId', 'of', 'ms', 'err'],
  );
  const fields = findLogFields(readSources());
  assert.ok(fields.size > 80, `only ${fields.size} fields`);
  const wrong = [...fields].filter(
    (name) => !/^[a-z]+(_[a-z]+)*$/.test(name) || /^(ms|milliseconds|seconds)$/.test(name),
  );
  assert.deepEqual(wrong, []);
});
