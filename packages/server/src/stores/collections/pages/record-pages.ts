import { createHash } from 'node:crypto';
import { type Chunk, type PagePictureQuery, type PassageBoxes, pagePictureWidth } from '@quartermaster/contract';
import type { Owner } from '../../../platform/admission/owner.ts';
import { isPageFormat, type PageJob } from '../../extraction/page-protocol.ts';
import type { PageReader, PageResult } from '../../extraction/pages/open-page-reader.ts';
import type { AccessibleFile, FileAccess } from '../../files/file-access.ts';
import type { ChunkKey } from '../chunks/chunk-repository.ts';
import type { Chunks } from '../chunks/chunks.ts';
import {
  chunkNotFound,
  fileNotFound,
  noPages,
  pageNotFound,
  pageNotRead,
  pagesBusy,
  rendererMissing,
} from '../problems.ts';
import type { RecordKey } from '../records/record-repository.ts';
import type { Records } from '../records/records.ts';

export interface RecordPagesDeps {
  readonly records: Pick<Records, 'get' | 'name'>;
  readonly chunks: Pick<Chunks, 'get' | 'findBoxes'>;
  readonly files: FileAccess;
  readonly pageReader: PageReader;
}

export interface PagesCaller {
  readonly owner: Owner;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface PagePicture {
  /** The same for the same picture. */
  readonly etag: string;
  /** Draws it. */
  draw(caller: PagesCaller): Promise<Buffer>;
}

/**
 * Shows passages on the pages of their PDF documents and pictures. Each request searches the text layer again; the boxes
 * of scanned pages are stored. Decisions: ADR 0150.
 */
export interface RecordPages {
  /** @throws OBJECT_NOT_FOUND when the chunk, its file or its page does not exist */
  boxes(key: ChunkKey, caller: PagesCaller): Promise<PassageBoxes>;
  /** @throws OBJECT_NOT_FOUND when the record, its file or the chunk does not exist */
  picture(key: RecordKey, page: number, query: PagePictureQuery): Promise<PagePicture>;
}

/** A part of each ETag. Increase it when the pictures of the same passages change. */
const pictureVersion = 2;

export function createRecordPages({ records, chunks, files, pageReader }: RecordPagesDeps): RecordPages {
  async function findSource(projectId: string, recordId: string, fileId: string | null): Promise<Source> {
    if (fileId === null) throw noPages(recordId);
    const file = await files.findFile(projectId, fileId, null);
    if (file === undefined) throw fileNotFound(fileId);
    const { extension } = file;
    if (!isPageFormat(extension)) throw noPages(recordId);
    return { file, format: extension };
  }

  /** Returns the text of the chunk without its prefix: the title and a table header, which are elsewhere on the pages. */
  async function passageOf(key: ChunkKey, { content, locator }: Chunk): Promise<Passage> {
    const { page: first = 0, page_end: last = first, char_start: start, char_end: end } = locator ?? {};
    // A chunk that got another text has no offsets, and its text stands on no page.
    const length = start === undefined || end === undefined ? 0 : end - start;
    if (length === 0) return { passage: '', first, last, scanned: [] };
    return { passage: content.slice(-length), first, last, scanned: await chunks.findBoxes(key) };
  }

  async function read(file: AccessibleFile, job: PageJob, { owner, signal }: PagesCaller) {
    const result = await pageReader.read({ owner, job, content: file.sha256, open: () => files.open(file) }, signal);
    if (result.kind === 'read') return result;
    throw toProblem(result, job);
  }

  async function passageIn(key: RecordKey, chunkId: string): Promise<Passage> {
    const chunkKey = { ...key, chunkId };
    const chunk = await chunks.get(chunkKey);
    if (chunk.record_id !== key.recordId) throw chunkNotFound(chunk.chunk_id);
    return passageOf(chunkKey, chunk);
  }

  return {
    async boxes(key, caller) {
      const chunk = await chunks.get(key);
      const { chunk_id, record_id, locator } = chunk;
      if (record_id === null || locator?.page === undefined) throw noPages(record_id ?? chunk_id);
      const { file, format } = await findSource(key.projectId, record_id, chunk.file_id);
      const passage = await passageOf(key, chunk);
      const { pages } = await read(file, { format, ...passage, picture: null }, caller);
      const shown = pages.map(({ boxes, ...page }) => ({ ...page, boxes: boxes.map((box) => [...box]) }));
      return { object: 'PassageBoxes', chunk_id, record_id, file_id: file.id, pages: shown };
    },
    async picture(key, page, { width = pagePictureWidth.default, chunk_id: chunkId }) {
      await records.get(key);
      const record = (await records.name(key.projectId, [key.recordId])).get(key.recordId);
      const { file, format } = await findSource(key.projectId, key.recordId, record?.fileId ?? null);
      const passage = chunkId === undefined ? nowhere : await passageIn(key, chunkId);
      const isOnPage = passage.first <= page && page <= passage.last;
      const place = isOnPage ? passage : { ...nowhere, first: page, last: page };
      const job = { format, ...place, picture: { page, width } };
      return {
        etag: etagOf(file.sha256, job),
        draw: async (caller) => {
          const { png } = await read(file, job, caller);
          return png as Buffer; // the job asks for one
        },
      };
    },
  };
}

type Passage = Omit<PageJob, 'picture' | 'format'>;
const nowhere: Passage = { passage: '', first: 0, last: 0, scanned: [] };

interface Source {
  readonly file: AccessibleFile;
  readonly format: PageJob['format'];
}

function etagOf(sha256: string, job: PageJob): string {
  const facts = JSON.stringify([pictureVersion, sha256, job]);
  return `"${createHash('sha256').update(facts).digest('base64url').slice(0, 32)}"`;
}

function toProblem(result: Exclude<PageResult, { kind: 'read' }>, { picture }: PageJob) {
  switch (result.kind) {
    case 'busy':
      return pagesBusy();
    case 'missing':
      return rendererMissing(result.renderer);
    case 'no_page':
      return pageNotFound(picture?.page ?? 0, result.numPages);
    case 'failed':
      return pageNotRead(result.message);
  }
}
