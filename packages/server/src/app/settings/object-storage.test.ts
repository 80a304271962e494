import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { parseConfig } from './config.ts';

const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'canary-secret' };
const parse = (environment: Record<string, string>) =>
  parseConfig({ QUARTERMASTER_BLOBS: 's3://tea/some/prefix', ...environment }).blobs;

test('the place of the object storage comes from its setting and from the variables of AWS', () => {
  const amazon = parse({ ...keys, AWS_DEFAULT_REGION: 'eu-west-1' });
  const { secretAccessKey, ...place } = amazon ?? assert.fail();
  assert.equal(secretAccessKey.reveal(), 'canary-secret');
  assert.ok(!inspect(amazon, { depth: 9 }).includes('canary'));
  assert.deepEqual(place, {
    bucket: 'tea',
    prefix: 'some/prefix',
    endpoint: null,
    region: 'eu-west-1',
    pathStyle: false,
    accessKeyId: 'id',
    keepDeletedDays: 30,
    sessionToken: null,
  });
  const endpoint = 'http://127.0.0.1:9000';
  const own = parse({
    ...keys,
    AWS_ENDPOINT_URL: 'http://other',
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_SESSION_TOKEN: 't',
  });
  assert.deepEqual([own?.endpoint, own?.region, own?.pathStyle], [endpoint, 'us-east-1', true]);
  assert.equal(own?.sessionToken?.reveal(), 't');
  assert.equal(parse({ ...keys, AWS_ENDPOINT_URL: endpoint, AWS_S3_FORCE_PATH_STYLE: 'false' })?.pathStyle, false);
  assert.equal(parse({ ...keys, AWS_REGION: 'r', QUARTERMASTER_BLOBS: 's3://tea.green' })?.pathStyle, true);
  const kept = parse({ ...keys, AWS_REGION: 'r', QUARTERMASTER_BLOBS: 's3://tea/prefix?keep_deleted_days=7' });
  assert.deepEqual([kept?.prefix, kept?.keepDeletedDays], ['prefix', 7]);
  assert.equal(parseConfig({ ...keys }).blobs, null);
});

const errors: ReadonlyArray<readonly [string, Record<string, string>, RegExp]> = [
  ['no credentials', { AWS_REGION: 'r' }, /set AWS_ACCESS_KEY_ID, too\.\n.*set AWS_SECRET_ACCESS_KEY, too\./],
  ['neither an address nor a region', keys, /QUARTERMASTER_BLOBS is set: set AWS_REGION, too\./],
  [
    'an address that is no URL',
    { ...keys, AWS_ENDPOINT_URL: 'minio:9000' },
    /AWS_ENDPOINT_URL must be an http or https URL/,
  ],
  [
    'an unknown style',
    { ...keys, AWS_REGION: 'r', AWS_S3_FORCE_PATH_STYLE: '1' },
    /AWS_S3_FORCE_PATH_STYLE must be true or/,
  ],
  [
    'another scheme',
    { QUARTERMASTER_BLOBS: 'https://tea' },
    /QUARTERMASTER_BLOBS must be a place such as s3:\/\/bucket\/prefix/,
  ],
  [
    'no days for the content of deleted files',
    { QUARTERMASTER_BLOBS: 's3://tea?keep_deleted_days=0' },
    /QUARTERMASTER_BLOBS must be a place/,
  ],
  [
    'a part that leaves the prefix',
    { QUARTERMASTER_BLOBS: 's3://tea/../other' },
    /QUARTERMASTER_BLOBS must be a place/,
  ],
];
for (const [name, environment, message] of errors) {
  test(`settings of object storage are refused with the variable to correct: ${name}`, () => {
    assert.throws(() => parse(environment), { name: 'ConfigError', message });
  });
}
