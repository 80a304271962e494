import { type PartDisposition, parseDisposition } from '../content-disposition.ts';
import { mediaTypeNotRead, multipartMalformed } from '../problems.ts';
import { trimBlanks } from './disposition-parameters.ts';

const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const readOnce = ['content-disposition', 'content-type', 'content-transfer-encoding'] as const;
const identityEncodings = ['7bit', '8bit', 'binary'];

/** Parses the header block of one part (latin1, without its final line ends). Only three headers are significant. */
export function readPartHeaders(block: string, maxLines: number): PartDisposition {
  const lines = block === '' ? [] : block.split('\r\n');
  if (lines.length > maxLines) throw multipartMalformed(`a part has more than ${maxLines} headers.`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [name, value] = readHeaderLine(line);
    if (!readOnce.includes(name as (typeof readOnce)[number])) continue; // a lookup, any text is fine
    if (headers.has(name)) throw multipartMalformed(`a part has two ${name} headers.`);
    headers.set(name, value);
  }
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
  if (encoding !== undefined && !identityEncodings.includes(encoding)) {
    throw multipartMalformed('a part has a Content-Transfer-Encoding other than 7bit, 8bit or binary.');
  }
  if (/^multipart\//i.test(headers.get('content-type') ?? '')) throw multipartMalformed('a part is multipart itself.');
  const disposition = headers.get('content-disposition');
  if (disposition === undefined) throw multipartMalformed('a part has no Content-Disposition.');
  return parseDisposition(disposition);
}

function readHeaderLine(line: string): [name: string, value: string] {
  if (/^[ \t]/.test(line)) throw multipartMalformed('a header of a part starts with a blank.');
  if (/[\r\n]/.test(line)) throw multipartMalformed('a header of a part holds a lone CR or LF.');
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(line)) {
    throw multipartMalformed('a header of a part holds a control character.');
  }
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0));
  if (!fieldName.test(name)) throw multipartMalformed('a header of a part is not name: value.');
  return [name.toLowerCase(), trimBlanks(line.slice(colon + 1))];
}

const boundaryShape = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;

/**
 * Returns the boundary of a `multipart/form-data` Content-Type: 1–70 characters of RFC 2046 §5.1.1. Throws
 * UNSUPPORTED_MEDIA_TYPE for another type, INVALID_REQUEST for a missing, repeated or malformed boundary.
 */
export function readBoundary(contentType: string | undefined): string {
  const match = /^multipart\/form-data[ \t]*(?:;(.*))?$/i.exec(contentType ?? '');
  if (match === null) throw mediaTypeNotRead(contentType);
  const found: string[] = [];
  let rest = match[1]?.trim() ?? '';
  while (rest !== '') {
    const parameter = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"([^"\\]*)"|([^\s";]+))[ \t]*(?:;[ \t]*|$)/.exec(rest);
    if (parameter === null) throw multipartMalformed('the parameters of its Content-Type cannot be read.');
    if (parameter[1]?.toLowerCase() === 'boundary') found.push(parameter[2] ?? parameter[3] ?? '');
    rest = rest.slice(parameter[0].length);
  }
  if (found.length === 0) throw multipartMalformed('its Content-Type has no boundary.');
  if (found.length > 1) throw multipartMalformed('its Content-Type has two boundaries.');
  const boundary = found[0] ?? '';
  if (!boundaryShape.test(boundary)) {
    throw multipartMalformed('the boundary is not 1 to 70 characters of the set that RFC 2046 allows.');
  }
  return boundary;
}
