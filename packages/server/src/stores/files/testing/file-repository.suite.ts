import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { HeldClaim, IdempotencyRepository } from '../../../platform/idempotency/idempotency-repository.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { type FileRepository, type NewFile, noFileLimits, type StoredFile } from '../file-repository.ts';

export interface OpenFileRepository {
  readonly files: FileRepository;
  readonly idempotency: IdempotencyRepository;
  /** Adds a record that is created from the file and returns its id. */
  addRecord(projectId: string, fileId: string, status: string): Promise<string>;
  release(): Promise<void>;
}

const isStored = async () => true;

/** Tests the behaviour of every file repository. */
export function describeFileRepository(name: string, open: () => Promise<OpenFileRepository>): void {
  describe(`file repository: ${name}`, () => {
    let opened: OpenFileRepository;
    let files: FileRepository;
    let project = '';
    const newId = createNewId();
    before(async () => {
      opened = await open();
      files = opened.files;
    });
    after(() => opened.release());
    beforeEach(() => {
      project = newId('project');
    });

    function newFile(sha256: string, change: Partial<StoredFile> = {}): NewFile & { readonly file: StoredFile } {
      const file: StoredFile = {
        id: newId('file'),
        projectId: project,
        blobId: newId('blob'),
        // The name counts in the quota. Without one, a file uses its bytes only.
        name: '',
        purpose: 'record_file',
        extension: 'txt',
        bytes: 10,
        sha256,
        createdAt: 1_800_000_000_000,
        uploaderId: null,
        ...change,
      };
      return { file, claim: null };
    }
    async function add(sha256: string, change: Partial<StoredFile> = {}): Promise<StoredFile> {
      const { file } = newFile(sha256, change);
      const [outcome] = await files.add([{ file, claim: null }], noFileLimits, isStored);
      assert.ok(outcome?.kind === 'added');
      return { ...file, blobId: outcome.blobId };
    }

    test('a file is found as it was added, in its own project only', async () => {
      const file = await add('aa', { name: 'Ünïcode "x".txt', bytes: 5_000_000_000 });
      assert.deepEqual(await files.find(project, file.id), file);
      assert.equal(await files.find('other', file.id), undefined);
      assert.equal(await files.find(project, 'nothing'), undefined);
    });

    test('equal content has one blob in a project, within a group and between groups', async () => {
      const group = [newFile('aa'), newFile('bb'), newFile('aa'), newFile('aa', { projectId: `${project}x` })];
      const blobs = (await files.add(group, noFileLimits, isStored)).map((outcome) =>
        outcome.kind === 'added' ? outcome.blobId : '',
      );
      assert.equal(blobs[0], blobs[2]);
      assert.equal(new Set(blobs).size, 3);
      assert.equal((await add('aa')).blobId, blobs[0]);
      const known = await files.knownBlobs([...group.map(({ file }) => file.blobId), 'nothing']);
      assert.deepEqual([...known].sort(), [...new Set(blobs)].sort());
    });

    test('a response is stored with its file; a file with a lost claim is not stored, but the others are', async () => {
      const claim = async (key: string) => {
        const held = {
          projectId: project,
          operation: 'upload' as const,
          key,
          callerId: '',
          heldUntil: 1000,
          nodeId: null,
          isRepeatable: true,
        };
        await opened.idempotency.claim(held, 1);
        return held;
      };
      const [good, lost] = [await claim('good'), { ...(await claim('lost')), heldUntil: 999 }];
      const complete = (held: HeldClaim) => ({ ...held, fingerprint: 'print', answer: '{}', expiresAt: 9000 });
      const group = [
        { ...newFile('aa'), claim: complete(good) },
        { ...newFile('bb'), claim: complete(lost) },
        newFile('cc'),
      ];
      const outcomes = await files.add(group, noFileLimits, isStored);
      assert.deepEqual(
        outcomes.map((outcome) => outcome.kind),
        ['added', 'claim_lost', 'added'],
      );
      const found = await Promise.all(group.map(({ file }) => files.find(project, file.id)));
      assert.deepEqual(
        found.map((file) => file !== undefined),
        [true, false, true],
      );
      assert.equal((await opened.idempotency.claim(good, 1)).kind, 'answered');
      assert.equal((await opened.idempotency.claim(lost, 1)).kind, 'running');
      assert.equal((await files.knownBlobs([group[1]?.file.blobId ?? ''])).size, 0);
    });

    test('a group that fails is not added in part', async () => {
      const { file } = await newFile('aa');
      await files.add([{ file, claim: null }], noFileLimits, isStored);
      const other = newFile('bb');
      await assert.rejects(
        files.add([other, { file: { ...file, sha256: 'cc' }, claim: null }], noFileLimits, isStored),
      );
      assert.equal(await files.find(project, other.file.id), undefined);
      assert.equal(await files.bytesKept(project), 10);
    });

    test('a list returns files whose name contains a text, ignoring the case of ASCII letters and with literal signs', async () => {
      for (const name of ['Annual Report.pdf', 'reporting_100%.csv', 'notes!.md', 'ÉTÉ.txt']) await add(name, { name });
      const named = async (text: string) =>
        (await files.list(project, { name: text, order: 'asc' })).items.map((file) => file.name);
      assert.deepEqual(await named('REPORT'), ['Annual Report.pdf', 'reporting_100%.csv']);
      assert.deepEqual(await named('0%'), ['reporting_100%.csv']);
      assert.deepEqual(await named('%'), ['reporting_100%.csv']);
      assert.deepEqual(await named('_'), ['reporting_100%.csv']);
      assert.deepEqual(await named('!'), ['notes!.md']);
      assert.deepEqual(await named('ÉT'), ['ÉTÉ.txt']);
      assert.deepEqual(await named('nothing'), []);
    });

    test('a list returns the live files of the project and purpose, page by page', async () => {
      const ids: string[] = [];
      for (let index = 0; index < 5; index += 1) {
        ids.push((await add(`${index}`, { purpose: index === 2 ? 'qa_record_file' : 'record_file' })).id);
      }
      await add('other', { projectId: `${project}x` });
      const list = async (query: Parameters<FileRepository['list']>[1]) => {
        const page = await files.list(project, query);
        return [...page.items.map((file) => ids.indexOf(file.id)), page.hasMore];
      };
      assert.deepEqual(await list({}), [4, 3, 2, 1, 0, false]);
      assert.deepEqual(await list({ order: 'asc', limit: 2 }), [0, 1, true]);
      assert.deepEqual(await list({ limit: 2, after: ids[3] ?? '' }), [2, 1, true]);
      assert.deepEqual(await list({ limit: 2, before: ids[0] ?? '' }), [2, 1, true]);
      assert.deepEqual(await list({ order: 'asc', limit: 3, before: ids[2] ?? '' }), [0, 1, false]);
      assert.deepEqual(await list({ purposes: ['qa_record_file'] }), [2, false]);
      assert.deepEqual(await list({ purposes: ['record_file', 'qa_record_file'], limit: 3 }), [4, 3, 2, true]);
      assert.deepEqual(await list({ purposes: ['document_file'] }), [false]);
      const [, second] = (await files.list(project, {})).items;
      assert.deepEqual(await list({ sha256: second?.sha256 ?? '' }), [3, false]);
      assert.deepEqual(await list({ sha256: 'of no file' }), [false]);
      await files.startDelete(project, ids[1] ?? '');
      assert.deepEqual(await list({}), [4, 3, 2, 0, false]);
      assert.equal(await files.bytesKept(project), 40);
    });

    test('the records of a file are listed, newest first, without deleted ones', async () => {
      const file = await add('aa');
      const first = await opened.addRecord(project, file.id, 'ready');
      const second = await opened.addRecord(project, file.id, 'error');
      await opened.addRecord(project, file.id, 'deleting');
      const found = await files.references(project, file.id, { limit: 10, reach: null });
      assert.deepEqual(
        found.map((record) => record.recordId),
        [second, first],
      );
      assert.equal((await files.references(project, file.id, { limit: 1, reach: null })).length, 1);
      assert.equal((await files.references('other', file.id, { limit: 10, reach: null })).length, 0);
    });

    test('a caller limited to collections sees and counts the files of their records and its own uploads', async () => {
      const [seen, other] = [await add('aa'), await add('bb')];
      const own = await add('cc', { uploaderId: 'key' });
      const earlier = await add('ee', { uploaderId: 'replaced' });
      await add('dd', { uploaderId: 'another' });
      for (const { id } of [seen, other]) await opened.addRecord(project, id, 'ready');
      await opened.addRecord(project, seen.id, 'error');
      const [first] = await files.references(project, seen.id, { limit: 1, reach: null });
      const reach = { keyIds: new Set(['key', 'replaced']), collections: new Set([first?.collectionId ?? '']) };
      const { items, total } = await files.list(project, { count: true }, reach);
      assert.deepEqual(
        [items.map(({ id }) => id), total],
        [[earlier.id, own.id, seen.id], { count: 3, isExact: true }],
      );
      assert.deepEqual(await files.find(project, own.id, reach), own);
      assert.deepEqual(await files.find(project, earlier.id, reach), earlier);
      assert.deepEqual(await files.find(project, seen.id, reach), seen);
      assert.equal(await files.find(project, other.id, reach), undefined);
      assert.equal((await files.references(project, seen.id, { limit: 9, reach })).length, 1);
    });

    test('a file is not deleted while a record is being created from it', async () => {
      const file = await add('aa');
      await opened.addRecord(project, file.id, 'creating');
      assert.equal(await files.startDelete(project, file.id), 'in_use');
      assert.deepEqual(await files.find(project, file.id), file);
    });

    test('a file that is being deleted is not found and not deleted again, and then does not exist', async () => {
      const file = await add('aa');
      assert.equal(await files.startDelete('other', file.id), 'absent');
      const deleting = await files.startDelete(project, file.id);
      assert.deepEqual(deleting, { fileId: file.id, blobId: file.blobId, bytes: 10, removeBlob: true });
      assert.equal(await files.find(project, file.id), undefined);
      assert.equal(await files.startDelete(project, file.id), 'absent');
      assert.ok((await files.unfinishedDeletes(1000)).some((unfinished) => unfinished.fileId === file.id));
      assert.ok(typeof deleting === 'object');
      await files.finishDelete(deleting);
      await files.finishDelete(deleting);
      assert.equal((await files.knownBlobs([file.blobId])).size, 0);
      assert.ok(!(await files.unfinishedDeletes(1000)).some((unfinished) => unfinished.fileId === file.id));
    });

    test('shared bytes are deleted with the last of their files, in whatever order the deletes end', async () => {
      const [a, b] = [await add('aa'), await add('aa')];
      const first = await files.startDelete(project, a.id);
      assert.ok(typeof first === 'object' && !first.removeBlob);
      const second = await files.startDelete(project, b.id);
      assert.ok(typeof second === 'object' && second.removeBlob);
      await files.finishDelete(second);
      assert.equal((await files.knownBlobs([a.blobId])).size, 1);
      const unfinishedDelete = (await files.unfinishedDeletes(1000)).find((unfinished) => unfinished.fileId === a.id);
      assert.ok(unfinishedDelete?.removeBlob);
      await files.finishDelete(first);
      assert.equal((await files.knownBlobs([a.blobId])).size, 0);
    });

    test('new files never share bytes that are being deleted', async () => {
      const old = await add('aa');
      await files.startDelete(project, old.id);
      assert.notEqual((await add('aa')).blobId, old.blobId);
    });

    test('with concurrent additions and deletes, a live file never refers to deleted bytes', async () => {
      for (let round = 0; round < 10; round += 1) {
        const old = await add('aa');
        const results = await Promise.all([
          files.startDelete(project, old.id),
          ...Array.from({ length: 4 }, () => files.add([newFile('aa'), newFile('bb')], noFileLimits, isStored)),
          files.startDelete(project, old.id),
        ]);
        const removed = results.flatMap((result) =>
          typeof result === 'object' && 'removeBlob' in result && result.removeBlob ? [result.blobId] : [],
        );
        const { items } = await files.list(project, { limit: 100 });
        for (const file of items) assert.ok(!removed.includes(file.blobId), 'a live file lost its bytes');
        for (const file of items) await files.startDelete(project, file.id);
      }
    });

    test('files added concurrently never exceed the bytes of their project together, and a delete frees space', async () => {
      const limits = { ...noFileLimits, maxProjectBytes: 100 };
      const other = `${project}x`;
      const sizes = [30, 7, 55, 1, 20, 0, 12, 90];
      for (let round = 0; round < 5; round += 1) {
        const groups = Array.from({ length: 12 }, (_, n) =>
          sizes.slice(n % 3, 8 - (n % 4)).map((bytes, place) => {
            const projectId = place === 2 ? other : project;
            return newFile(`${round} ${n} ${place}`, { bytes, projectId });
          }),
        );
        const outcomes = (await Promise.all(groups.map((group) => files.add(group, limits, isStored)))).flat();
        assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['added', 'no_room']));
        for (const projectId of [project, other]) {
          const { items } = await files.list(projectId, { limit: 100 });
          const sum = items.reduce((total, { bytes }) => total + bytes, 0);
          assert.ok(sum <= 100 && sum > 80, `${sum}`);
          assert.equal(await files.bytesKept(projectId), sum);
          assert.equal(
            (await files.add([newFile('more', { bytes: 101 - sum, projectId })], limits, isStored))[0]?.kind,
            'no_room',
          );
          await Promise.all(
            items.flatMap(({ id }) => [files.startDelete(projectId, id), files.startDelete(projectId, id)]),
          );
          assert.equal(await files.bytesKept(projectId), 0);
        }
      }
    });

    test('files added concurrently never exceed the number allowed for their project, and a delete frees a place', async () => {
      const limits = { maxProjectBytes: 20, maxFiles: 10 };
      const other = `${project}x`;
      for (let round = 0; round < 3; round += 1) {
        const groups = Array.from({ length: 8 }, (_, n) => [
          newFile(`${n} empty`, { bytes: 0 }),
          newFile(`${n} large`, { bytes: 21 }),
          newFile(`${n} other`, { bytes: 0, projectId: other }),
          newFile(`${n} small`, { bytes: 1 }),
        ]);
        const outcomes = (await Promise.all(groups.map((group) => files.add(group, limits, isStored)))).flat();
        const count = (kind: string) => outcomes.filter((outcome) => outcome.kind === kind).length;
        // Large files that are refused for their bytes do not count.
        assert.deepEqual([count('added'), count('too_many_files'), count('no_room')], [18, 6, 8]);
        const { items } = await files.list(project, { limit: 100 });
        assert.equal(items.length, 10);
        const more = async () => (await files.add([newFile('more', { bytes: 0 })], limits, isStored))[0]?.kind;
        assert.equal(await more(), 'too_many_files');
        await files.startDelete(project, items[0]?.id ?? '');
        assert.deepEqual([await more(), await more()], ['added', 'too_many_files']);
        for (const projectId of [project, other]) {
          for (const { id } of (await files.list(projectId, { limit: 100 })).items) {
            await files.startDelete(projectId, id);
          }
        }
      }
    });

    test('a file that is not stored uses no space: its claim was lost, its group failed, or it stayed in use', async () => {
      const limits = { maxProjectBytes: 20, maxFiles: 2 };
      const held = {
        projectId: project,
        operation: 'upload' as const,
        key: 'lost',
        callerId: '',
        heldUntil: 1000,
        nodeId: null,
        isRepeatable: true,
      };
      await opened.idempotency.claim(held, 1);
      const lost = { ...held, heldUntil: 999, fingerprint: 'print', answer: '{}', expiresAt: 9000 };
      const outcomes = await files.add([{ ...newFile('aa'), claim: lost }, newFile('bb')], limits, isStored);
      assert.deepEqual(
        outcomes.map(({ kind }) => kind),
        ['claim_lost', 'added'],
      );
      assert.equal(await files.bytesKept(project), 10);
      const file = await add('cc');
      await opened.addRecord(project, file.id, 'creating');
      assert.equal(await files.startDelete(project, file.id), 'in_use');
      assert.equal(await files.bytesKept(project), 20);
    });

    test('contents are found by their hash in their own project, unless they are being deleted', async () => {
      const [file, other] = [await add('aa'), await add('aa', { projectId: `${project}x` })];
      const of = (projectId: string, sha256: string) => ({ projectId, sha256 });
      const contents = [of(project, 'aa'), of(project, 'bb'), of(other.projectId, 'aa'), of(project, 'aa')];
      const find = async () => (await files.findContents(contents)).map((blob) => blob?.blobId);
      assert.deepEqual(await find(), [file.blobId, undefined, other.blobId, file.blobId]);
      await files.startDelete(project, file.id);
      assert.deepEqual(await find(), [undefined, undefined, other.blobId, undefined]);
    });

    test('live blobs are listed by id with their recorded damage', async () => {
      const [a, b] = [await add('aa'), await add('bb', { bytes: 20 })];
      await files.startDelete(project, (await add('cc')).id);
      const rows = await files.liveBlobs(a.blobId.slice(0, -1), 1000);
      assert.deepEqual(
        rows.filter((row) => row.projectId === project),
        [
          { blobId: a.blobId, projectId: project, bytes: 10, sha256: 'aa', damage: null },
          { blobId: b.blobId, projectId: project, bytes: 20, sha256: 'bb', damage: null },
        ],
      );
      assert.equal((await files.liveBlobs(a.blobId, 1))[0]?.blobId, b.blobId);
    });
  });
}
