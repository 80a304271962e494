import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Owner } from '../../../platform/admission/owner.ts';
import type { MinimumRate } from '../../../platform/concurrency/minimum-rate.ts';
import type { NewId } from '../../../platform/identifier.ts';
import type { BlobStore, StagedBlob } from '../blob-store.ts';
import { contentEncodingNotRead, fileTooLarge } from '../problems.ts';
import type { Admissions } from './admission.ts';
import { receiveBody } from './receive-body.ts';

/** A body on the disk that exists only while a request uses it. */
export interface TemporaryFile {
  readonly bytes: number;
  /** Reads the bytes from the start. */
  readonly open: () => AsyncIterable<Uint8Array>;
}

export interface TemporaryFiles {
  /**
   * Receives a body, passes it to `use` and deletes it. It counts as an upload of the project until then.
   * @throws FILE_TOO_LARGE, TOO_MANY_REQUESTS, INSUFFICIENT_STORAGE, UNSUPPORTED_MEDIA_TYPE for an encoded body, the
   *   errors of {@link receiveBody} and those of `use`
   */
  receive<Result>(
    head: Owner & { readonly headers: IncomingHttpHeaders },
    body: Readable,
    use: (file: TemporaryFile) => Promise<Result>,
  ): Promise<Result>;
}

export interface TemporaryFilesDeps {
  readonly admissions: Pick<Admissions, 'reserve'>;
  readonly blobs: Pick<BlobStore, 'checkRoom' | 'stage'>;
  readonly newId: NewId;
  readonly maxFileBytes: number;
  readonly minimumRate: MinimumRate;
}

export function createTemporaryFiles(deps: TemporaryFilesDeps): TemporaryFiles {
  async function receive(body: Readable, staged: StagedBlob): Promise<TemporaryFile> {
    let bytes = 0;
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > deps.maxFileBytes) throw fileTooLarge(deps.maxFileBytes, 'body');
      return staged.append(chunk);
    };
    await receiveBody(body, take, deps.minimumRate);
    await staged.finish();
    return { bytes, open: () => readStaged(staged) };
  }

  return {
    async receive({ projectId, keyId, headers }, body, use) {
      const encoding = headers['content-encoding'];
      if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw contentEncodingNotRead(encoding);
      if (Number(headers['content-length'] ?? 0) > deps.maxFileBytes) throw fileTooLarge(deps.maxFileBytes, 'body');
      const release = deps.admissions.reserve({ projectId, keyId });
      try {
        await deps.blobs.checkRoom();
        const staged = deps.blobs.stage(deps.newId('blob'));
        try {
          return await use(await receive(body, staged));
        } finally {
          await staged.discard();
        }
      } finally {
        release();
      }
    },
  };
}

const blockBytes = 256 * 1024;

async function* readStaged(staged: StagedBlob): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const block = await staged.read(position, blockBytes);
    if (block.length === 0) return;
    yield block;
    position += block.length;
  }
}
