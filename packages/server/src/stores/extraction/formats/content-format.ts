import { ExtractionError } from '../extraction-error.ts';
import { openArchive } from './open-package.ts';

/** The folder of the main part in an Office package. Source: ECMA-376 part 1, by which every known writer names it. */
const folders = { 'word/': 'docx', 'xl/': 'xlsx', 'ppt/': 'pptx' } as const;

/** The entry `mimetype` of OpenDocument files and EPUB books. Templates have their own types, with the same content. */
const mediaTypes = {
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.presentation': 'odp',
  'application/epub+zip': 'epub',
} as const;

type PackedFormat = (typeof folders)[keyof typeof folders] | (typeof mediaTypes)[keyof typeof mediaTypes];

const packed: ReadonlySet<string> = new Set([...Object.values(folders), ...Object.values(mediaTypes)]);

/**
 * Returns the format of a document by its content, because people save a document under the extension of another program: a packed one,
 * and RTF or HTML as `.txt`. Any other format, and a file that does not show one, keeps the format of its name.
 */
export async function contentFormat(bytes: Uint8Array, named: string): Promise<string> {
  if (named === 'txt') return markupFormat(bytes) ?? named;
  if (!packed.has(named)) return named;
  try {
    return (await findFormat(bytes)) ?? named;
  } catch (error) {
    // The reader of the named format describes the damage.
    if (error instanceof ExtractionError) return named;
    throw error;
  }
}

/** Finds RTF and HTML in a text file, because people rename documents to `.txt`. */
function markupFormat(bytes: Uint8Array): 'rtf' | 'html' | undefined {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1').replace('\u00ef\u00bb\u00bf', '').trimStart();
  if (/^\{\\rtf1/.test(start)) return 'rtf';
  return /^<(?:!doctype html|html)[\s>]/i.test(start) ? 'html' : undefined;
}

async function findFormat(bytes: Uint8Array): Promise<PackedFormat | undefined> {
  const archive = await openArchive(bytes, 'packed');
  // The type is at most 51 characters long; a packed bomb of this name is not unpacked.
  const mediaType = archive.packedBytes('mimetype') > 200 ? undefined : archive.read('mimetype');
  if (mediaType !== undefined) {
    const name = Buffer.from(mediaType.subarray(0, 100))
      .toString('latin1')
      .trim()
      .replace(/-template$/, '');
    return Object.hasOwn(mediaTypes, name) ? mediaTypes[name as keyof typeof mediaTypes] : undefined; // a key of the table
  }
  const found = Object.entries(folders).filter(([folder]) => archive.names.some((name) => name.startsWith(folder)));
  return found.length === 1 ? found[0]?.[1] : undefined;
}
