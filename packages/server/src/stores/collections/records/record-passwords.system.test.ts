import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import officeCrypto from 'officecrypto-tool';
import { workbook } from '../../../../../../test/support/sample-office.ts';
import { encryptedPdf } from '../../../../../../test/support/sample-pdf.ts';
import type { EncryptionKey } from '../../../access/credential-profiles/encryption.ts';
import {
  createEncrypter,
  createEncryptionKey,
  readEncryptionKey,
} from '../../../access/credential-profiles/encryption.ts';
import { openTestDatabase, openTestService } from '../testing/test-collections.suite.ts';
import type { PasswordEncrypter } from './record-passwords.ts';

const password = 'open sesame 4711';

async function open(t: TestContext, more: { encrypter?: PasswordEncrypter | null } = {}) {
  const database = await openTestDatabase(t);
  const key = readEncryptionKey(createEncryptionKey()) as EncryptionKey; // a key that was just created
  const service = await openTestService(t, { database, encrypter: createEncrypter(key), ...more });
  const project = service.createProject();
  const collectionId = await project.collection({});
  const pdf = service.files.add(project.projectId, 'record_file', 'locked.pdf', encryptedPdf(password));
  const stored = () => database.read.selectFrom('record').select('encrypted_password').execute();
  const everything = async () => JSON.stringify(await database.read.selectFrom('record').selectAll().execute());
  return { ...service, ...project, collectionId, pdf, stored, everything };
}

test('a file is read with its password, which is stored encrypted until the record is ready', async (t) => {
  const { call, collectionId, pdf, stored, everything, settled } = await open(t);
  const path = `/v1/collections/${collectionId}/records`;
  const created = await call('POST', path, { type: 'file', file_id: pdf, password });
  assert.equal(created.status, 200);
  assert.ok(!JSON.stringify(created.body).includes(password));
  assert.ok(!(await everything()).includes(password));
  const record = await settled(collectionId, created.body.data.record_id);
  assert.deepEqual([record.status, record.error], ['ready', null]);
  const { data } = (await call('GET', `/v1/collections/${collectionId}/chunks?limit=10`)).body;
  assert.match(data[0].content, /Hello from behind a password/);
  assert.deepEqual(await stored(), [{ encrypted_password: null }], 'it is erased');
  assert.ok(!JSON.stringify(record).includes(password));
});

test('without the password the error names the field, and the password sent later repairs the record', async (t) => {
  const { call, record, collectionId, pdf, stored, settled } = await open(t);
  const locked = await record(collectionId, { type: 'file', file_id: pdf });
  assert.deepEqual([locked.status, locked.error.code], ['error', 'file_encrypted']);
  assert.match(locked.error.message, /`password`/);
  const path = `/v1/collections/${collectionId}/records/${locked.record_id}`;
  await call('POST', path, { password: 'wrong' });
  const wrong = await settled(collectionId, locked.record_id);
  assert.equal(wrong.error.code, 'password_wrong');
  assert.deepEqual(await stored(), [{ encrypted_password: null }], 'a failed record keeps none');
  await call('POST', path, { password });
  assert.equal((await settled(collectionId, locked.record_id)).status, 'ready');
  await call('POST', `${path}/retry`, {});
  assert.equal((await settled(collectionId, locked.record_id)).error.code, 'file_encrypted', 'it was erased');
});

test('a waiting record keeps its password until it is cancelled, deleted or changed', async (t) => {
  const { call, collectionId, pdf, stored, files, projectId } = await open(t);
  const path = `/v1/collections/${collectionId}/records`;
  const slow = Promise.withResolvers<void>();
  const { open: opened } = files;
  files.open = async function* (file) {
    await slow.promise;
    yield* opened(file);
  };
  t.after(() => slow.resolve());
  const create = async () => (await call('POST', path, { type: 'file', file_id: pdf, password })).body.data.record_id;
  const [cancelled, deleted, changed] = [await create(), await create(), await create()];
  const kept = async () => (await stored()).filter((row) => row.encrypted_password !== null).length;
  assert.equal(await kept(), 3);
  await call('POST', `${path}/${cancelled}/cancel`, {});
  assert.equal(await kept(), 2);
  await call('DELETE', `${path}/${deleted}`);
  assert.equal(await kept(), 1);
  const other = files.add(projectId, 'record_file', 'open.txt', 'no password');
  await call('POST', `${path}/${changed}`, { file_id: other });
  assert.equal(await kept(), 0);
});

test('a dry run reads with the password and stores nothing', async (t) => {
  const { call, collectionId, pdf, stored } = await open(t);
  const path = `/v1/collections/${collectionId}/records?dry_run=true`;
  const { status, body } = await call('POST', path, { type: 'file', file_id: pdf, password });
  assert.deepEqual([status, body.data.status], [200, 'ready']);
  assert.ok(!JSON.stringify(body).includes(password));
  assert.deepEqual(await stored(), []);
});

test('a sheet with a password becomes pairs', async (t) => {
  const { files, projectId, collection, record, call } = await open(t);
  const rows = [
    ['Question', 'Answer'],
    ['Open?', 'From nine'],
  ];
  const sheet = officeCrypto.encrypt(workbook([{ name: 'A', rows }]), { password });
  const fileId = files.add(projectId, 'qa_record_file', 'faq.xlsx', sheet);
  const qa = await collection({ type: 'qa' });
  const pairs = await record(qa, { type: 'qa_sheet', file_id: fileId, password });
  assert.equal(pairs.status, 'ready');
  const { data } = (await call('GET', `/v1/collections/${qa}/chunks`)).body;
  assert.equal(data[0].answer, 'From nine');
});

test('passwords are refused for other records, and without an encryption key', async (t) => {
  const { call, collectionId } = await open(t);
  const path = `/v1/collections/${collectionId}/records`;
  const text = await call('POST', path, { type: 'text', content: 'open', password });
  assert.deepEqual([text.status, text.body.error.code], [422, 'REQUEST_VALIDATION_ERROR']);
  const long = await call('POST', path, { type: 'file', file_id: 'x', password: 'x'.repeat(256) });
  assert.equal(long.status, 422);
  assert.ok(!JSON.stringify(long.body).includes('xxx'), 'an error does not repeat the password');
  const keyless = await open(t, { encrypter: null });
  const keylessPath = `/v1/collections/${keyless.collectionId}/records`;
  const refused = await keyless.call('POST', keylessPath, { type: 'file', file_id: keyless.pdf, password });
  assert.deepEqual([refused.status, refused.body.error.code], [501, 'NOT_CONFIGURED']);
  assert.deepEqual(await keyless.stored(), []);
});

test('a password that no key decrypts is asked for again', async (t) => {
  const encrypter = { encrypt: () => ({ text: 'v1.other' }), decrypt: () => null };
  const { record, collectionId, pdf, stored } = await open(t, { encrypter });
  const { error } = await record(collectionId, { type: 'file', file_id: pdf, password });
  assert.equal(error.code, 'file_encrypted');
  assert.match(error.message, /another encryption key/);
  assert.deepEqual(await stored(), [{ encrypted_password: null }]);
});
