import { isJsonObject } from '../../../platform/json/json-object.ts';
import { withoutHiddenCharacters } from '../../../platform/plain-name.ts';
import type { XmlElement } from './xml-tree.ts';

/** The reason of an error as the third party gives it. Both texts are one bounded line. */
export interface Reason {
  readonly code: string | null;
  readonly message: string | null;
}

export const noReason: Reason = { code: null, message: null };

/** The maximum number of characters of a third party's reason. The rest is cut. */
export const reasonLimits = { message: 500, code: 100 } as const;

/**
 * The usual places of a message, most specific first: APIs of Google, Stripe and OpenAI (`error.message`), GitHub and AWS
 * (`message`), OAuth 2.0 (RFC 6749 §5.2), GraphQL and JSON:API (`errors`), problem details (RFC 9457) and FastAPI (`detail`).
 */
const messagePlaces = [
  ...['error.message', 'error.detail', 'error.description', 'error.error_description', 'error.msg', 'error.info'],
  ...['message', 'error_description', 'error_message', 'errorMessage', 'errors.0.message', 'errors.0.detail'],
  ...['detail', 'detail.message', 'detail.0.msg', 'description', 'reason', 'msg', 'error', 'errors.0.title'],
  ...['errors.0', 'title', 'fault.faultstring', '0.message', 'Message', 'Error'],
].map((place) => place.split('.'));

const codePlaces = [
  ...['error.code', 'error.status', 'error.type', 'code', 'error_code', 'errorCode', 'errors.0.extensions.code'],
  ...['errors.0.code', 'detail.code', 'detail.0.type', 'error', 'type', '0.code', '0.errorCode', 'Code'],
].map((place) => place.split('.'));

/** Finds the reason in the parsed JSON of an error answer, for a manifest without expressions. */
export function findReason(body: unknown, status: number): Reason {
  const message = firstText(body, messagePlaces, () => true);
  const isCode = (text: string) => text !== message && text !== String(status) && !/\s|^about:blank$/.test(text);
  return { code: lineOf(firstText(body, codePlaces, isCode), reasonLimits.code), message: boundedMessage(message) };
}

/** Finds the reason in an XML document, such as `<Error><Code>NoSuchKey</Code><Message>…</Message></Error>`. */
export function findXmlReason(root: XmlElement): Reason {
  return {
    code: lineOf(firstElement(root, xmlCodes)?.text ?? null, reasonLimits.code),
    message: boundedMessage(firstElement(root, xmlMessages)?.text ?? null),
  };
}

/** Turns the value of a manifest's expression into a bounded line; null for a value that is neither text nor number. */
export function lineOf(value: unknown, longest: number): string | null {
  if (!isTextOrNumber(value)) return null;
  // Cut twice, because collapsing blanks in a long text costs time that grows with it.
  const start = String(value)
    .slice(0, longest * 4)
    .toWellFormed();
  const line = withoutHiddenCharacters(start.replaceAll(blanks, ' ')).trim();
  if (line === '') return null;
  return line.length > longest ? `${line.slice(0, longest - 1).toWellFormed()}…` : line;
}

export function boundedMessage(value: unknown): string | null {
  return lineOf(value, reasonLimits.message);
}

/** Integers beyond 2^53 are BigInt. */
function isTextOrNumber(value: unknown): value is string | number | bigint {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
}

const blanks = /[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

function firstText(
  body: unknown,
  places: ReadonlyArray<readonly string[]>,
  isMeant: (text: string) => boolean,
): string | null {
  if (typeof body === 'string') return places === messagePlaces ? body : null;
  for (const place of places) {
    const value = valueAt(body, place);
    if (!isTextOrNumber(value)) continue;
    const text = String(value).trim();
    if (text !== '' && isMeant(text)) return text;
  }
  return null;
}

function valueAt(body: unknown, place: readonly string[]): unknown {
  let value = body;
  for (const name of place) {
    if (Array.isArray(value)) value = value[Number(name)];
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

const xmlMessages: ReadonlySet<string> = new Set(['message', 'faultstring', 'detail', 'description', 'title', 'error']);
const xmlCodes: ReadonlySet<string> = new Set(['code', 'errorcode', 'faultcode']);
/** The depth to which a document is searched. Reasons are near the root. */
const maxXmlDepth = 6;

function firstElement(root: XmlElement, names: ReadonlySet<string>, depth = 0): XmlElement | undefined {
  const name = root.name.replace(/^.*:/, '').toLowerCase();
  if (names.has(name) && root.text.trim() !== '') return root;
  if (depth >= maxXmlDepth) return undefined;
  for (const child of root.children) {
    const found = firstElement(child, names, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
