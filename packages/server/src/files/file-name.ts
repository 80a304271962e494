import { type Extension, type Purpose, purposes } from '@quartermaster/contract';
import { fieldInvalid } from '../kernel/problem.ts';
import { purposeNotAllowed } from './problems.ts';

/** The name of an uploaded file, read. */
export interface FileName {
  /** For display only. */
  readonly name: string;
  readonly extension: Extension;
}

/** Bytes of UTF-8: what the file systems that a download lands on take. */
const longestName = 255;

/** Throws REQUEST_VALIDATION_ERROR for a name that is empty or too long, or whose extension the purpose does not take. */
export function readFileName(name: string, purpose: Purpose): FileName {
  if (name === '') throw fieldInvalid('body/file', 'an empty filename', 'a name with an extension');
  if (Buffer.byteLength(name) > longestName) {
    throw fieldInvalid('body/file', 'a longer filename', `at most ${longestName} bytes of UTF-8`);
  }
  const dot = name.lastIndexOf('.');
  const written = dot === -1 ? '' : name.slice(dot + 1).toLowerCase();
  const meant = written === 'htm' ? 'html' : written;
  const allowed: readonly Extension[] = purposes[purpose].extensions;
  const extension = allowed.find((known) => known === meant);
  if (extension === undefined) throw purposeNotAllowed(meant, purpose);
  return { name, extension };
}
