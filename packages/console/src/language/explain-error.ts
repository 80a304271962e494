/** Texts by the codes of errors, or by the names of fields. */
export type Codes = Readonly<Record<string, string>>;

/** An error of the service, or of a row, a record or a run. */
export interface CodedError {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

interface ErrorWords {
  readonly codes: Codes;
  readonly fields: Codes;
}

/** Returns an error in the words of the console. The paths of the API do not appear in it. */
export function explainError({ code, message, details }: CodedError, { codes, fields }: ErrorWords) {
  const field = code === 'REQUEST_VALIDATION_ERROR' ? fields[fieldOf(details)] : undefined;
  if (field !== undefined) return field;
  const plain = withoutPaths(message);
  return codes[code]?.replace('{message}', () => plain) ?? plain;
}

/**
 * The name of the first invalid field. A file whose content contradicts its name has the name `content`, and a sheet
 * whose columns were not found `columns`.
 */
function fieldOf(details: unknown): string {
  const first: unknown = Array.isArray(details) ? details[0] : undefined;
  const { path, found } = Object(first) as { readonly path?: unknown; readonly found?: unknown };
  if (typeof path !== 'string') return '';
  if (path === 'body/file' && typeof found === 'string' && found.includes('content')) return 'content';
  if (path === 'body/file_id' && typeof found === 'string' && found.includes('columns')) return 'columns';
  return path.replace(/^body\//, '');
}

/** `body/chunking/chunk_size must be …` → `chunk size must be …` */
function withoutPaths(message: string): string {
  return message.replace(/\b(?:body|query|path|header)s?(?:\/\w+)*\/(\w+)/g, (_, name: string) =>
    name.replaceAll('_', ' '),
  );
}
