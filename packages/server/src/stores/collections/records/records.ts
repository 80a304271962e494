import type { RecordCreate, RecordItem, RecordListQuery, RecordType, RecordUpdate } from '@quartermaster/contract';
import type { ProjectOwner } from '../../../platform/admission/owner.ts';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import type { CountExceeded } from '../../../platform/concurrency/limit-counter.ts';
import type { DiskSpace } from '../../../platform/disk/disk-space.ts';
import { isId } from '../../../platform/identifier.ts';
import { checkCursors } from '../../../platform/list-cursors.ts';
import type { Page } from '../../../platform/page.ts';
import type { FileReach } from '../../../platform/permissions.ts';
import type { FileAccess } from '../../files/file-access.ts';
import type { CollectionLimits, Collections } from '../collections.ts';
import { collectionNotFound, recordBusy, recordNotFound, tooManyRecords, tooManyWaiting } from '../problems.ts';
import { readMetadata } from '../read-fields.ts';
import { recordFailureCodes } from './record-failures.ts';
import { createRecordItems, type EmbeddingOfRecords } from './record-item.ts';
import type { RecordPasswords } from './record-passwords.ts';
import {
  type NamedRecord,
  type RecordChange,
  type RecordKey,
  type RecordRepository,
  restorableMs,
  type StoredRecord,
} from './record-repository.ts';
import { fieldsOf, readPassword, readSource, type SourceFields } from './record-source.ts';

export interface RecordsDeps extends RecordLimitsDeps, Pick<CommonDeps, 'clock' | 'newId'> {
  readonly collections: Pick<Collections, 'find'>;
  readonly records: RecordRepository;
  /** Returns null without an embedder. */
  readonly embedding: () => EmbeddingOfRecords | null;
  readonly files: FileAccess;
  readonly passwords: RecordPasswords;
  /** Default: the disk is never full. */
  readonly space?: DiskSpace | undefined;
  /** The maximum wait of a record before it is processed, in milliseconds. */
  readonly maxWaitMs: number;
  /** Called when a new record waits for work. */
  readonly onAdded: () => void;
  /** Called when an existing record waits for work, or when the current work on it must stop. */
  readonly onChanged: (recordId: string) => void;
}

/** Who creates or changes a record, and the files that it sees. */
export interface RecordCaller extends ProjectOwner {
  readonly reach: FileReach | null;
}

export interface Records {
  create(caller: RecordCaller, collectionId: string, body: RecordCreate): Promise<RecordItem>;
  get(key: RecordKey): Promise<RecordItem>;
  /** Names records of the project with one query. Records that do not exist are omitted. */
  name(projectId: string, recordIds: readonly string[]): Promise<ReadonlyMap<string, NamedRecord>>;
  list(projectId: string, collectionId: string, query: RecordListQuery): Promise<Page<RecordItem>>;
  update(key: RecordKey & RecordCaller, body: RecordUpdate): Promise<RecordItem>;
  /**
   * Creates the chunks again from the same source. A record that is being processed continues, without waiting for its
   * next attempt.
   */
  retry(key: RecordKey & RecordCaller): Promise<RecordItem>;
  /** Cancels the processing of a record. A processed record stays unchanged. */
  cancel(key: RecordKey): Promise<RecordItem>;
  /** Deletes the record. If it is `restorable`, its rows remain for `restorableMs`. */
  remove(key: RecordKey, options?: { readonly restorable?: boolean | undefined }): Promise<void>;
  /** Undoes a restorable deletion. A record that is not deleted stays unchanged. */
  restore(key: RecordKey): Promise<RecordItem>;
}

/** Retries after concurrent changes. Each conflict means that another writer succeeded. */
const mostAttempts = 20;

/** Manages the records of a collection. Missing objects and objects of other projects give OBJECT_NOT_FOUND. */
export function createRecords(deps: RecordsDeps): Records {
  const { collections, records, files, passwords, clock, newId } = deps;
  const { checkAdded, checkWaiting } = createRecordLimits(deps);
  const { toItem, toItems } = createRecordItems(deps);

  async function find(key: RecordKey): Promise<StoredRecord> {
    const found = isId(key.recordId) ? await records.find(key) : undefined;
    if (found !== undefined) return found;
    await collections.find(key.projectId, key.collectionId);
    throw recordNotFound(key.recordId);
  }

  /**
   * Queues the record to be processed again, with the sent fields in place of the stored ones. Other fields keep their
   * stored values. If the source changes concurrently, the fields are applied to the new source.
   */
  async function remake(key: RecordKey & RecordCaller, { fields, sent }: SourceChange): Promise<RecordItem> {
    const { type: collectionType } = await collections.find(key.projectId, key.collectionId);
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      const from = await find(key);
      if (from.status !== 'creating') await checkWaiting(key.projectId);
      const given = { ...storedFields(from, fields.type), ...fields };
      const source = await readSource(given, { files, projectId: key.projectId, reach: key.reach, collectionType });
      const encryptedPassword = passwords.encrypt(key, readPassword(fields, source.type));
      const now = clock.now();
      const remake = { source, from, encryptedPassword, keyId: key.keyId, deadlineAt: now + deps.maxWaitMs };
      if (!(await records.change(key, { ...sent, updatedAt: now, remake }))) continue;
      deps.onChanged(key.recordId);
      return toItem({ ...from, ...source, ...waiting, ...sent, updatedAt: now });
    }
    throw recordBusy(key.recordId);
  }

  return {
    async create({ projectId, keyId, reach }, collectionId, body) {
      const { type: collectionType } = await collections.find(projectId, collectionId);
      await checkAdded({ projectId, collectionId });
      const source = await readSource(body, { files, projectId, reach, collectionType });
      const now = clock.now();
      const key = { projectId, collectionId, recordId: newId('record') };
      const record = {
        ...source,
        id: key.recordId,
        projectId,
        keyId,
        collectionId,
        metadata: readMetadata(body.metadata ?? {}),
        encryptedPassword: passwords.encrypt(key, readPassword(body, source.type)),
        createdAt: now,
        deadlineAt: now + deps.maxWaitMs,
      };
      if (!(await records.add(record))) throw collectionNotFound(collectionId);
      deps.onAdded();
      return toItem({ ...record, ...waiting, numChunks: 0, updatedAt: now });
    },
    get: async (key) => toItem(await find(key)),
    name: (projectId, recordIds) => records.name(projectId, recordIds.filter(isId)),
    async list(projectId, collectionId, query) {
      const cursors = checkCursors(query, 'record');
      const page = await records.list(projectId, collectionId, cursors);
      if (page.items.length === 0) await collections.find(projectId, collectionId);
      return { ...page, items: await toItems(page.items) };
    },
    async update(key, body) {
      const before = await find(key);
      const fields = sourceFieldsOf(body);
      const changesSource = Object.keys(fields).length > 0;
      if (!changesSource && body.metadata === undefined) return toItem(before);
      const sent = body.metadata === undefined ? {} : { metadata: readMetadata(body.metadata) };
      if (changesSource) return remake(key, { fields, sent });
      const updatedAt = clock.now();
      if (!(await records.change(key, { ...sent, updatedAt }))) throw recordNotFound(key.recordId);
      return toItem({ ...before, ...sent, updatedAt });
    },
    async retry(key) {
      const before = await find(key);
      if (before.status !== 'creating') return remake(key, { fields: {}, sent: {} });
      await records.retryNow(key, clock.now());
      deps.onChanged(key.recordId);
      return toItem(await find(key));
    },
    async cancel(key) {
      await find(key);
      const failure = { code: 'cancelled', message: recordFailureCodes.cancelled };
      if (await records.cancel(key, { failure, now: clock.now() })) deps.onChanged(key.recordId);
      return toItem(await find(key));
    },
    ...createDeletions(deps, { checkAdded, get: async (key) => toItem(await find(key)) }),
  };
}

interface DeletionParts extends Pick<RecordLimits, 'checkAdded'> {
  readonly get: (key: RecordKey) => Promise<RecordItem>;
}

function createDeletions(
  { collections, records, clock, maxWaitMs, onAdded, onChanged }: RecordsDeps,
  { checkAdded, get }: DeletionParts,
): Pick<Records, 'remove' | 'restore'> {
  return {
    async remove(key, { restorable = false } = {}) {
      await collections.find(key.projectId, key.collectionId);
      const now = clock.now();
      const until = restorable ? now + restorableMs : undefined;
      const marked = isId(key.recordId) && (await records.markDeleting(key, now, until));
      if (!marked) throw recordNotFound(key.recordId);
      onChanged(key.recordId);
    },
    async restore(key) {
      await collections.find(key.projectId, key.collectionId);
      await checkAdded(key);
      const now = clock.now();
      if (isId(key.recordId) && (await records.restore(key, { now, deadlineAt: now + maxWaitMs }))) onAdded();
      return get(key);
    },
  };
}

/** The fields of the request. */
interface SourceChange {
  readonly fields: SourceFields;
  readonly sent: Pick<RecordChange, 'metadata'>;
}

/** A record that gets another type does not keep the columns of its sheet. */
function storedFields(from: StoredRecord, type: RecordType = from.type): SourceFields {
  const { columns, ...fields } = fieldsOf(from);
  return columns === undefined || type !== from.type ? fields : { ...fields, columns };
}

const waiting = { status: 'creating', stage: 'queued', percent: 0, attempt: 0, error: null, report: null } as const;

/** Returns the members that cause the chunks to be created again. Members unknown to the schema are ignored. */
function sourceFieldsOf(body: RecordUpdate): SourceFields {
  const { type, content, title, file_id, url, text_splitter, on_duplicate, columns, password } = body;
  return {
    ...(type === undefined ? {} : { type }),
    ...(content === undefined ? {} : { content }),
    ...(title === undefined ? {} : { title }),
    ...(file_id === undefined ? {} : { file_id }),
    ...(url === undefined ? {} : { url }),
    ...(text_splitter === undefined ? {} : { text_splitter }),
    ...(on_duplicate === undefined ? {} : { on_duplicate }),
    ...(columns === undefined ? {} : { columns }),
    ...(password === undefined ? {} : { password }),
  };
}

interface RecordLimitsDeps {
  readonly records: Pick<RecordRepository, 'areWaiting' | 'findReachedLimit'>;
  readonly limits: Pick<CollectionLimits, 'records' | 'waitingRecords'>;
  /** Counts refused requests. Absent: they are not counted. */
  readonly countExceeded?: CountExceeded | undefined;
}

/**
 * Limits on the number of records, checked before a record is added. Concurrent requests may exceed a limit slightly,
 * each by one record. This is harmless, because the limits protect the service from too much work.
 */
interface RecordLimits {
  /**
   * @throws Problem RESOURCE_LIMIT_REACHED when the collection has its maximum of records, or no further record of the
   * project may wait
   */
  checkAdded(of: Pick<RecordKey, 'projectId' | 'collectionId'>): Promise<void>;
  /** @throws Problem RESOURCE_LIMIT_REACHED when no further record of the project may wait */
  checkWaiting(projectId: string): Promise<void>;
}

function createRecordLimits({ records, limits, countExceeded }: RecordLimitsDeps): RecordLimits {
  function refuseWaiting(): never {
    countExceeded?.('waiting_records');
    throw tooManyWaiting(limits.waitingRecords);
  }
  return {
    async checkAdded(of) {
      const reached = await records.findReachedLimit(of, limits);
      if (reached === 'waitingRecords') refuseWaiting();
      if (reached === undefined) return;
      countExceeded?.('records_of_collection');
      throw tooManyRecords(limits.records);
    },
    async checkWaiting(projectId) {
      if (await records.areWaiting(projectId, limits.waitingRecords)) refuseWaiting();
    },
  };
}
