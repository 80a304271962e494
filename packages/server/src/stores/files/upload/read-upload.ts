import { canonicalExtension, type Extension, isPurpose, type Purpose, purposes } from '@quartermaster/contract';
import { quoteText } from '../../../platform/quote-text.ts';
import { fieldInvalid } from '../../../platform/validation/validation-error.ts';
import type { PartDisposition } from '../content-disposition.ts';
import {
  fieldRepeated,
  filePartMissing,
  fileTooLarge,
  purposeNotAllowed,
  purposePartMissing,
  purposeUnknown,
} from '../problems.ts';
import { createMultipartParser } from './multipart.ts';

/** Receives the bytes of the file. */
export interface FileSink {
  /** Takes ownership of the bytes: the caller must not read them afterwards. */
  append(bytes: Buffer): Promise<void> | undefined;
}

export interface UploadForm {
  readonly purpose: Purpose;
  readonly fileName: FileName;
  /** Names of the other fields, which are ignored. */
  readonly ignored: readonly string[];
}

export interface UploadFormReader {
  /** Parses the next bytes of the body. When it returns a promise, the caller waits for it before the next call. */
  write(chunk: Buffer): Promise<void> | undefined;
  /** Ends the body and returns the form. */
  end(): UploadForm;
}

export const longestPurpose = 1024;
/** Limits other fields, which are ignored because some existing clients send them. */
export const longestOtherField = 64 * 1024;

type Part = 'file' | 'purpose' | 'other';

/**
 * Parses the form of an upload: one `file` and one `purpose`, in any order. Throws as soon as the form is certainly
 * wrong: REQUEST_VALIDATION_ERROR, FILE_TOO_LARGE at the first byte beyond the limit, or INVALID_REQUEST.
 */
export function createUploadFormReader(boundary: string, sink: FileSink, maxFileBytes: number): UploadFormReader {
  let current: Part = 'other';
  let currentName = '';
  let currentBytes = 0;
  let rawName: string | undefined;
  let purposeBytes: Buffer[] | undefined;
  let purpose: Purpose | undefined;
  let waits: Array<Promise<void>> = [];
  const ignored = new Set<string>();

  function checkTogether(): void {
    if (rawName !== undefined && purpose !== undefined) readFileName(rawName, purpose);
  }

  function onPart({ name, filename }: PartDisposition): void {
    current = name === 'file' || name === 'purpose' ? name : 'other';
    currentName = name;
    currentBytes = 0;
    if (current === 'other') ignored.add(name);
    if (current === 'file') {
      if (rawName !== undefined) throw fieldRepeated('file');
      if (filename === undefined)
        throw fieldInvalid('body/file', 'a part without a filename', 'a part with a filename');
      rawName = filename;
      checkTogether();
    }
    if (current === 'purpose') {
      if (purposeBytes !== undefined) throw fieldRepeated('purpose');
      if (filename !== undefined) throw fieldInvalid('body/purpose', 'a file', 'a text field');
      purposeBytes = [];
    }
  }

  function onData(bytes: Buffer): void {
    currentBytes += bytes.length;
    if (current === 'file') {
      if (currentBytes > maxFileBytes) throw fileTooLarge(maxFileBytes);
      const wait = sink.append(bytes);
      if (wait !== undefined) waits.push(wait);
      return;
    }
    const longest = current === 'purpose' ? longestPurpose : longestOtherField;
    if (currentBytes > longest) {
      if (current === 'purpose') throw fieldInvalid('body/purpose', 'a longer text', `at most ${longest} bytes`);
      const found = `a longer field ${quoteText(currentName)}`;
      throw fieldInvalid('body', found, `a form whose text fields have at most ${longest} bytes`);
    }
    if (current === 'purpose') purposeBytes?.push(bytes);
  }

  function onPartEnd(): void {
    if (current !== 'purpose') return;
    const text = Buffer.concat(purposeBytes ?? []).toString('utf8');
    if (!isPurpose(text)) throw purposeUnknown(text);
    purpose = text;
    checkTogether();
  }

  const parser = createMultipartParser(boundary, { onPart, onData, onPartEnd });
  return {
    write(chunk) {
      try {
        parser.write(chunk);
      } finally {
        // Handles a rejected wait also when the parser has failed, to avoid an unhandled rejection.
        for (const wait of waits) wait.catch(() => {});
      }
      if (waits.length === 0) return undefined;
      const all = Promise.all(waits).then(() => {});
      waits = [];
      return all;
    },
    end() {
      parser.end();
      if (rawName === undefined) throw filePartMissing();
      if (purpose === undefined) throw purposePartMissing();
      return { purpose, fileName: readFileName(rawName, purpose), ignored: [...ignored] };
    },
  };
}

/** The validated name of an uploaded file. */
interface FileName {
  /** For display only. */
  readonly name: string;
  readonly extension: Extension;
}

/** The maximum number of bytes in UTF-8. Common file systems, on which downloads are saved, have the same limit. */
const longestName = 255;

/**
 * These characters change the order in which a name is displayed, so that `invoice\u202efdp.txt` looks like a PDF.
 * Marks that names in Arabic or Hebrew need (U+200E, U+200F, U+061C) are allowed.
 */
const directionControl = /[\u202a-\u202e\u2066-\u2069]/;

/**
 * Throws REQUEST_VALIDATION_ERROR for a name that is empty, too long, or displayed in an order that differs from the
 * stored one, or whose extension the purpose does not allow.
 */
export function readFileName(name: string, purpose: Purpose): FileName {
  if (name === '') throw fieldInvalid('body/file', 'an empty filename', 'a part with a filename and an extension');
  if (Buffer.byteLength(name) > longestName) {
    throw fieldInvalid('body/file', 'a longer one', `a file whose name has at most ${longestName} bytes of UTF-8`);
  }
  const control = directionControl.exec(name)?.[0].charCodeAt(0).toString(16).toUpperCase();
  if (control !== undefined) {
    throw fieldInvalid(
      'body/file',
      `a filename with U+${control}`,
      'a file whose name has no characters that change the text direction',
    );
  }
  const dot = name.lastIndexOf('.');
  const written = dot === -1 ? '' : name.slice(dot + 1).toLowerCase();
  const canonical = canonicalExtension(written);
  const allowed: readonly Extension[] = purposes[purpose].extensions;
  const extension = allowed.find((known) => known === canonical);
  if (extension === undefined) throw purposeNotAllowed(canonical, purpose);
  return { name, extension };
}
