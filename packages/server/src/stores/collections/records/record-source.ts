import {
  type CollectionType,
  purposeNames,
  purposes,
  type RecordCreate,
  type RecordType,
  type SheetColumns,
  type TextSplitter,
} from '@quartermaster/contract';
import { isId } from '../../../platform/identifier.ts';
import type { FileReach } from '../../../platform/permissions.ts';
import { quoteText } from '../../../platform/quote-text.ts';
import { fieldInvalid, fieldMissing } from '../../../platform/validation/validation-error.ts';
import { checkSplitter } from '../../extraction/chunking/check-splitter.ts';
import type { FileAccess } from '../../files/file-access.ts';
import { collectionTypeMismatch, fileNotFound, purposeMismatch, splitterRefused } from '../problems.ts';
import { readText } from '../read-fields.ts';
import type { RecordSource } from './record-repository.ts';

/** The fields of a create or update request that determine the source of the record. */
export type SourceFields = Omit<RecordCreate, 'metadata'>;

export interface SourceContext {
  readonly files: FileAccess;
  /** The files that the caller sees. */
  readonly reach: FileReach | null;
  readonly projectId: string;
  readonly collectionType: CollectionType;
}

/**
 * Validates the source of a record. Fields that its type does not use are ignored, because the official client sends
 * all fields.
 * @throws REQUEST_VALIDATION_ERROR for invalid fields, OBJECT_NOT_FOUND for a missing file
 */
export async function readSource(fields: SourceFields, context: SourceContext): Promise<RecordSource> {
  const type = fields.type ?? 'text';
  if (fields.columns !== undefined && type !== sheetType)
    throw fieldInvalid(
      'body/columns',
      `columns for a record of type "${type}"`,
      `this field for type "${sheetType}" only`,
    );
  const textSplitter = readSplitter(fields.text_splitter);
  const title = readText(fields.title ?? '', 'body/title');
  const common = { type, title, textSplitter, fileId: null, url: null };
  if (type === 'text') return { ...common, content: readContent(fields.content) };
  if (type === 'web') {
    const url = readUrl(fields.url);
    return { ...common, url, content: JSON.stringify({ url }) };
  }
  const file = await readFile(type, fields.file_id, context);
  if (type !== sheetType) return { ...common, ...file };
  const { on_duplicate: onDuplicate } = fields;
  const columns = readColumns(fields.columns);
  return {
    ...common,
    ...file,
    ...(onDuplicate === undefined ? {} : { onDuplicate }),
    ...(columns === undefined ? {} : { columns }),
  };
}

/** Returns the fields that a request with this source would have. */
export function fieldsOf(source: RecordSource): SourceFields {
  return {
    type: source.type,
    title: source.title,
    ...(source.type === 'text' ? { content: source.content } : {}),
    ...(source.fileId === null ? {} : { file_id: source.fileId }),
    ...(source.url === null ? {} : { url: source.url }),
    ...(source.textSplitter === null ? {} : { text_splitter: source.textSplitter }),
    ...(source.onDuplicate === undefined ? {} : { on_duplicate: source.onDuplicate }),
    ...(source.columns === undefined ? {} : { columns: source.columns }),
  };
}

/** Returns the password of a file. @throws REQUEST_VALIDATION_ERROR when a record of this type has no file */
export function readPassword({ password }: SourceFields, type: RecordType): string | null {
  if (password === undefined) return null;
  if (purposeNames.some((name) => purposes[name].recordType === type)) return password;
  throw fieldInvalid('body/password', 'a string', `absent for a record of type "${type}"`);
}

const sheetType = purposes.qa_record_file.recordType;

/** No columns at all mean that all are found by their names. */
function readColumns(columns: SheetColumns | undefined): SheetColumns | undefined {
  if (columns === undefined || Object.keys(columns).length === 0) return undefined;
  const { question, answer } = columns;
  if (question !== undefined && question === answer)
    throw fieldInvalid('body/columns/answer', 'the same column as `question`', 'another column');
  return columns;
}

function readSplitter(splitter: TextSplitter | undefined): TextSplitter | null {
  if (splitter === undefined) return null;
  const error = checkSplitter(splitter);
  if (error !== null) throw splitterRefused(error);
  return splitter;
}

function readContent(content: string | undefined): string {
  if (content === undefined) throw fieldMissing('body/content', 'the text of the record');
  const text = readText(content, 'body/content').trim();
  if (text === '') throw fieldInvalid('body/content', 'blank text', 'text with at least one visible character');
  return text;
}

function readUrl(url: string | undefined): string {
  if (url === undefined) throw fieldMissing('body/url', 'an https URL');
  const text = readText(url, 'body/url').trim();
  if (!URL.canParse(text)) throw fieldInvalid('body/url', 'text that is not a URL', 'an https URL');
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'https:')
    throw fieldInvalid('body/url', `a URL with the scheme ${quoteText(protocol)}`, 'an https URL');
  if (username !== '' || password !== '') {
    throw fieldInvalid('body/url', 'a URL that has one', 'an https URL without user name and password');
  }
  return text;
}

async function readFile(type: RecordType, fileId: string | undefined, context: SourceContext) {
  const { names, collectionType: needed } = purposesOf(type);
  if (context.collectionType !== needed) throw collectionTypeMismatch(type, needed, context.collectionType);
  if (fileId === undefined) throw fieldMissing('body/file_id', `the id of a file with the purpose ${names}`);
  const file = isId(fileId) ? await context.files.findFile(context.projectId, fileId, context.reach) : undefined;
  if (file === undefined) throw fileNotFound(fileId);
  if (purposes[file.purpose].recordType !== type) throw purposeMismatch(type, names, file.purpose);
  // file_size comes last, because the official client's tests cut the text there.
  const content = JSON.stringify({ file_id: file.id, file_name: file.name, file_size: file.bytes });
  return { fileId: file.id, content };
}

/** The purposes of the files from which records of this type are created. */
function purposesOf(type: RecordType): { names: string; collectionType: CollectionType } {
  const accepted = purposeNames.filter((name) => purposes[name].recordType === type);
  const [first] = accepted;
  if (first === undefined) throw new Error(`Records of type ${type} have no file purpose.`);
  return {
    names: accepted.map((name) => `"${name}"`).join(' or '),
    collectionType: purposes[first].collectionType,
  };
}
