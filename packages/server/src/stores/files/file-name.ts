import { canonicalExtension, type Extension, type Purpose, purposes } from '@quartermaster/contract';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import { purposeNotAllowed } from './problems.ts';

/** The validated name of an uploaded file. */
export interface FileName {
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
