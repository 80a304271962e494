import type { IncomingHttpHeaders } from 'node:http';
import { type Extension, formatEntries, formatOfExtension, formatOfMediaType } from '@quartermaster/contract';
import { Problem } from '../../../platform/problem.ts';
import { quoteText } from '../../../platform/quote-text.ts';
import { fieldInvalid } from '../../../platform/validation/validation-error.ts';

/** The properties of a document that its headers state. */
export interface DocumentName {
  /** Without `X-Filename`: empty. */
  readonly name: string;
  readonly extension: Extension;
  readonly mimeType: string | undefined;
}

/** The maximum length of `X-Filename` in characters, percent-encoded. */
export const longestName = 2048;

/** The extensions of texts whose media type may be that of something else, as `.ts` is also a video. Source: `known_source_ext` of Open WebUI. */
const sourceCode = new Set(
  (
    'go py java sh bat ps1 cmd js ts css cpp hpp h c cs sql log ini pl pm r dart dockerfile env php hs hsc lua conf m mm plsql perl rb ' +
    'rs db2 scala bash swift vue svelte ex exs erl tsx jsx lhs json yaml yml toml'
  ).split(' '),
);

/**
 * Reads name and format of a document. The extension of the name decides, then the media type. Source code and any
 * other `text/…` are plain text.
 * @throws REQUEST_VALIDATION_ERROR for a malformed name, UNSUPPORTED_MEDIA_TYPE for a format without a reader
 */
export function readDocumentName(headers: IncomingHttpHeaders): DocumentName {
  const name = decodeName(headers['x-filename']);
  const mimeType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const dot = name.lastIndexOf('.');
  const written = dot === -1 ? '' : name.slice(dot + 1).toLowerCase();
  const byName = sourceCode.has(written) ? 'txt' : formatOfExtension(written);
  const extension = byName ?? formatOfMediaType(mimeType ?? '') ?? (mimeType?.startsWith('text/') ? 'txt' : undefined);
  if (extension === undefined) throw formatNotRead(written, mimeType);
  return { name, extension, mimeType };
}

function decodeName(header: string | string[] | undefined): string {
  const encoded = [header ?? ''].flat().join();
  if (encoded.length > longestName) {
    throw fieldInvalid('headers/x-filename', 'a longer name', `at most ${longestName} characters`);
  }
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw fieldInvalid('headers/x-filename', 'a malformed escape', 'a percent-encoded name in UTF-8');
  }
}

function formatNotRead(extension: string, mimeType: string | undefined): Problem {
  const found = `the extension ${quoteText(extension)} and the type ${quoteText(mimeType ?? '')}`;
  return new Problem(
    'UNSUPPORTED_MEDIA_TYPE',
    `The format of the document is not supported; received ${found}. Send ${formatEntries.map(([name]) => `.${name}`).join(', ')} or a text type.`,
  );
}
