import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../../platform/secret.ts';
import { checkObjectStorage } from './check-object-storage.ts';
import { bodyOfText } from './s3-bodies.ts';
import { createS3Client, type S3Client, type S3Place } from './s3-client.ts';
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

test('a check erases what checks of stopped processes left behind, and leaves running ones alone', async (t) => {
  const server = await startS3Server();
  t.after(() => server.close());
  const client = createS3Client(server.place);
  t.after(() => client.close());
  const objects = createS3Objects(client);
  const write = (name: string) => objects.put(`doctor/${name}`, bodyOfText(name));
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 2 * 3_600_000 });
  await write('stopped');
  t.mock.timers.reset();
  await write('running');
  assert.deepEqual((await check(server.place))[0]?.[0], 'ok');
  const names = await Array.fromAsync(objects.list('doctor'), ({ name }) => name);
  assert.deepEqual(names, ['running']);
});

test('uploads in parts are ended for one key, or for older ones below a folder', async () => {
  const upload = (key: string, id: string, initiated: string) =>
    `<Upload><Key>some/prefix/${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`;
  const text = [
    upload('doctor/a', '1', '2010-11-10T20:48:33.000Z'),
    upload('doctor/ab', '2', '2010-11-10T22:48:33.000Z'),
    upload('doctor/ab', '3', ''),
  ].join('');
  const ended: unknown[] = [];
  const send = async ({ method, key, query }: Parameters<S3Client['send']>[0]) => {
    if (method === 'DELETE') ended.push([key, query?.uploadId]);
    return { status: 200, headers: {}, text };
  };
  const client = { place: { bucket: 'store', prefix: 'some/prefix' }, send } as unknown as S3Client; // what it uses
  const objects = createS3Objects(client);
  await objects.abortUploads('doctor/', Date.parse('2010-11-10T21:48:33.000Z'));
  assert.deepEqual(ended.splice(0), [['doctor/a', '1']]);
  await objects.abortUploads('doctor/ab');
  assert.deepEqual(ended, [
    ['doctor/ab', '2'],
    ['doctor/ab', '3'],
  ]);
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
