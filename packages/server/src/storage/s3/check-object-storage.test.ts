import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../../platform/secret.ts';
import { checkObjectStorage } from './check-object-storage.ts';
import { createS3Client, type S3Place } from './s3-client.ts';
import { createS3Objects } from './s3-objects.ts';
import { startS3Server } from './testing/s3-server.fixture.ts';

const check = (place: S3Place) => Array.fromAsync(checkObjectStorage(place), ({ state, message }) => [state, message]);

test('object storage that refuses wrong uploads passes the check, which leaves no object behind', async (t) => {
  const server = await startS3Server();
  t.after(() => server.close());
  const checks = await check(server.place);
  assert.deepEqual(
    checks.map(([state]) => state),
    ['ok', 'ok', 'ok'],
    JSON.stringify(checks),
  );
  const client = createS3Client(server.place);
  t.after(() => client.close());
  assert.deepEqual(await Array.fromAsync(createS3Objects(client).list('doctor')), []);
});

test('object storage that accepts wrong uploads is named as unfit', async (t) => {
  const server = await startS3Server();
  t.after(() => server.close());
  server.choose = () => 'unchecked';
  assert.match(
    String((await check(server.place)).at(-1)),
    /^failed,The service is not fit for a store: it accepts an upload whose bytes do not match their signed hash, and whose bytes do not match Content-MD5\./,
  );
});

test('object storage that refuses the key, lacks the bucket or does not answer fails the check with the remedy', async (t) => {
  const server = await startS3Server();
  t.after(() => server.close());
  const wrongs: ReadonlyArray<readonly [Partial<S3Place>, RegExp]> = [
    [{ secretAccessKey: new Secret('another') }, /^failed,.*\(SignatureDoesNotMatch\).*Correct AWS_SECRET_ACCESS_KEY/],
    [{ bucket: 'missing' }, /^failed,.*\(NoSuchBucket\).*Create the bucket/],
    [{ endpoint: 'http://127.0.0.1:1' }, /^failed,.*\(connect ECONNREFUSED 127\.0\.0\.1:1\)/],
  ];
  for (const [wrong, message] of wrongs) {
    const checks = await check({ ...server.place, ...wrong });
    assert.equal(checks.length, 1);
    assert.match(String(checks[0]), message);
  }
});
