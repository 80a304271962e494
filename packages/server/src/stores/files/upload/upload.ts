import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { File } from '@quartermaster/contract';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import { createGroupCommit } from '../../../platform/concurrency/group-commit.ts';
import type { MinimumRate } from '../../../platform/concurrency/minimum-rate.ts';
import { objectNotFound } from '../../../platform/problem.ts';
import type { BlobDigest, BlobStore } from '../blob-store.ts';
import { commitFiles, discardStaged } from '../commit-files.ts';
import { checkContent } from '../content-check/content-type-check.ts';
import {
  CommitInDoubt,
  type FileRepository,
  type IsStored,
  type NewFile,
  type StoredFile,
} from '../file-repository.ts';
import { verifyStoredContent } from '../maintenance/quarantine.ts';
import type { ReportDamage } from '../maintenance/report-damage.ts';
import { idempotencyClaimLost, quotaUsedUp, tooManyFiles, uploadGivenUp, uploadInDoubt } from '../problems.ts';
import type { Quota } from '../quota.ts';
import type { Admission } from './admission.ts';
import { createUploadFormReader, type UploadForm } from './read-upload.ts';
import { receiveBody } from './receive-body.ts';

/** Receives uploads. docs/contract.md "Storage" defines the order of the steps. */
export interface Uploads {
  /**
   * Resolves when the file would survive a power failure. After a rejection there is no file, except after
   * SERVICE_UNAVAILABLE, when the commit may have succeeded although its answer was lost.
   */
  receive(admission: Admission, body: Readable): Promise<ReceivedUpload>;
}

export interface ReceivedUpload {
  readonly file: File;
  /** Names of form fields that are unknown and were ignored. */
  readonly ignored: readonly string[];
}

export interface UploadsDeps extends Pick<CommonDeps, 'clock' | 'logger' | 'newId'> {
  readonly blobs: BlobStore;
  readonly files: FileRepository;
  readonly reportDamage: ReportDamage;
  readonly quota: Quota;
  readonly maxFileBytes: number;
  readonly minimumRate: MinimumRate;
}

/** The number of rows of one transaction, within the parameters that one statement allows. */
const largestGroup = 256;

export function createUploads(deps: UploadsDeps): Uploads {
  const isStored: IsStored = async ({ blobId, bytes }) => (await deps.blobs.size(blobId)) === bytes;
  const contents = createGroupCommit(deps.files.findContents, largestGroup);
  const rows = createGroupCommit(
    (files: readonly NewFile[]) => deps.files.add(files, deps.quota.limits, isStored),
    largestGroup,
  );

  async function receiveNew(admission: Admission, body: Readable): Promise<ReceivedUpload> {
    await deps.blobs.checkRoom();
    const staged = deps.blobs.stage(deps.newId('blob'));
    try {
      const form = await readForm(deps, { admission, body, sink: staged });
      const digest = await staged.finish();
      await checkContent(form.fileName.extension, {
        bytes: digest.bytes,
        read: (position, length) => staged.read(position, length),
      });
      await deps.quota.check(admission.projectId, digest.bytes);
      const file = toStoredFile(deps, { admission, form, digest, blobId: staged.blobId });
      // The query runs during the sync of the bytes. Otherwise it would wait for the commits of other uploads.
      const verified = verifyStoredContent({ ...deps, findContent: contents.add }, file);
      verified.catch(() => {}); // `addRow` awaits it
      await staged.commit();
      return { file: await addRow(admission, file, verified), ignored: form.ignored };
    } finally {
      await discardStaged(deps.logger, staged);
    }
  }

  /** Adds the row of durable bytes. */
  async function addRow(admission: Admission, file: StoredFile, verified: Promise<void>): Promise<File> {
    const answer = toWire(file);
    const add = async () => {
      await verified;
      const claim =
        admission.claim?.kind === 'running' ? await admission.claim.complete(fingerprintOf(file), answer) : null;
      return [await rows.add({ file, claim })];
    };
    try {
      const [outcome] = await commitFiles(deps, [file], add);
      if (outcome?.kind === 'no_room') throw quotaUsedUp(deps.quota.limits.maxProjectBytes ?? 0);
      if (outcome?.kind === 'too_many_files') throw tooManyFiles(deps.quota.limits.maxFiles ?? 0);
      if (outcome?.kind === 'no_project') throw objectNotFound('project', file.projectId);
      if (outcome?.kind === 'given_up') throw uploadGivenUp();
      if (outcome?.kind !== 'added') throw idempotencyClaimLost();
      if (admission.claim?.kind === 'running') admission.claim.stored();
      return answer;
    } catch (error) {
      if (!(error instanceof CommitInDoubt)) throw error;
      // It is unknown whether the key has an answer, so the claim is released in the background.
      if (admission.claim?.kind === 'running') admission.claim.releaseLater();
      deps.logger.error({ err: error, blob_id: file.blobId }, 'upload in doubt: commit not confirmed');
      throw uploadInDoubt(error);
    }
  }

  return {
    receive: (admission, body) =>
      admission.claim?.kind === 'answered' ? receiveAgain(deps, admission, body) : receiveNew(admission, body),
  };
}

/** Handles a request that was already answered. It reads the body only to check that the content is the same. */
async function receiveAgain(deps: UploadsDeps, admission: Admission, body: Readable): Promise<ReceivedUpload> {
  const hash = createHash('sha256');
  const sink = {
    append(bytes: Buffer) {
      hash.update(bytes);
      return undefined;
    },
  };
  const form = await readForm(deps, { admission, body, sink });
  const fingerprint = fingerprintOf({
    purpose: form.purpose,
    name: form.fileName.name,
    sha256: hash.digest('hex'),
  });
  if (admission.claim?.kind !== 'answered') throw new Error('only an answered request can be replayed');
  const file = (await admission.claim.replay([fingerprint])) as File; // `addRow` stored it with the claim
  return { file, ignored: form.ignored };
}

async function readForm(
  deps: UploadsDeps,
  upload: { admission: Admission; body: Readable; sink: Parameters<typeof createUploadFormReader>[1] },
): Promise<UploadForm> {
  const reader = createUploadFormReader(upload.admission.boundary, upload.sink, deps.maxFileBytes);
  await receiveBody(upload.body, (chunk) => reader.write(chunk), deps.minimumRate);
  return reader.end();
}

function toStoredFile(
  deps: UploadsDeps,
  upload: { admission: Admission; form: UploadForm; digest: BlobDigest; blobId: string },
): StoredFile {
  return {
    id: deps.newId('file'),
    projectId: upload.admission.projectId,
    blobId: upload.blobId,
    name: upload.form.fileName.name,
    purpose: upload.form.purpose,
    extension: upload.form.fileName.extension,
    bytes: upload.digest.bytes,
    sha256: upload.digest.sha256,
    createdAt: deps.clock.now(),
    uploaderId: upload.admission.uploaderId,
  };
}

export function toWire(file: StoredFile): File {
  return {
    file_id: file.id,
    file_name: file.name,
    purpose: file.purpose,
    bytes: file.bytes,
    sha256: file.sha256,
    created_timestamp: file.createdAt,
  };
}

function fingerprintOf(file: Pick<StoredFile, 'purpose' | 'name' | 'sha256'>): string {
  return createHash('sha256')
    .update(JSON.stringify([file.purpose, file.name, file.sha256]))
    .digest('hex');
}
