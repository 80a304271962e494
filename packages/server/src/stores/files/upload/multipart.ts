import type { PartDisposition } from '../content-disposition.ts';
import { multipartMalformed } from '../problems.ts';
import { readPartHeaders } from './part-headers.ts';

/**
 * A strict streaming parser of `multipart/form-data` (RFC 7578, RFC 2046 §5.1). It is the only parser of uploads and
 * refuses ambiguous input. It passes file bytes on as slices of the input and never copies them.
 */
export interface MultipartParser {
  /** Parses the next bytes and calls the handler. Throws INVALID_REQUEST. The parser owns the chunk from then on. */
  write(chunk: Buffer): void;
  /** Signals the end of the body. Throws INVALID_REQUEST unless the final boundary was found. */
  end(): void;
}

/** Called in the order of the message. `write` rethrows its errors. */
export interface MultipartHandler {
  onPart(part: PartDisposition): void;
  /**
   * Receives a slice of the current part's content, never empty. The parser keeps no slice that covers a whole chunk.
   */
  onData(bytes: Buffer): void;
  onPartEnd(): void;
}

/** Limits on the bytes around the content of the parts. The handler limits the content itself. */
export const multipartLimits = {
  parts: 8,
  headerLines: 16,
  headerBytes: 8 * 1024,
  /** Bytes before the first boundary, and after the last one. */
  surroundingBytes: 8 * 1024,
  /** Blanks after a boundary. */
  paddingBytes: 64,
} as const;

/**
 * `begin` is the start, where a boundary has no line end before it. `preamble` and `content` search for a boundary.
 * `boundary` reads the rest of its line, `headers` the headers of a part, and `start` the line end after them.
 * `closing` is the line of the final boundary, and `epilogue` the rest.
 */
type State = 'begin' | 'preamble' | 'boundary' | 'headers' | 'start' | 'content' | 'closing' | 'epilogue';

const CR = 0x0d;
const LF = 0x0a;
const hyphen = 0x2d;
const lineEnd = Buffer.from('\r\n');
const nothing = Buffer.alloc(0);

/** The state of parsing. `rest` contains the input that is not yet parsed. */
interface Reading {
  readonly handler: MultipartHandler;
  readonly delimiter: Buffer;
  /** Without its line end, because there may be none at the start. */
  readonly firstDelimiter: Buffer;
  state: State;
  rest: Buffer;
  parts: number;
  surrounding: number;
}

/** Each step consumes bytes from the start of `rest` and returns whether another step may follow. */
const steps: Readonly<Record<State, (reading: Reading) => boolean>> = {
  begin: takeBegin,
  preamble: takePreamble,
  boundary: takeBoundaryLine,
  headers: takeHeaders,
  start: takeContentStart,
  content: takeContent,
  closing: takeClosingLine,
  epilogue: takeEpilogue,
};

/** @param boundary the parameter of the Content-Type, as {@link readBoundary} returns it */
export function createMultipartParser(boundary: string, handler: MultipartHandler): MultipartParser {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const firstDelimiter = delimiter.subarray(lineEnd.length);
  const reading: Reading = {
    handler,
    delimiter,
    firstDelimiter,
    state: 'begin',
    rest: nothing,
    parts: 0,
    surrounding: 0,
  };
  return {
    write(chunk) {
      reading.rest = reading.rest.length === 0 ? chunk : Buffer.concat([reading.rest, chunk]);
      while (reading.rest.length > 0 && steps[reading.state](reading));
    },
    end() {
      const { state, rest } = reading;
      const closed = state === 'closing' && blanksIn(rest) === rest.length;
      if (state !== 'epilogue' && !closed) throw multipartMalformed('it ends before the final boundary.');
    },
  };
}

function takeBegin(reading: Reading): boolean {
  const found = startsWith(reading.rest, reading.firstDelimiter);
  if (found === 'perhaps') return false;
  if (found === 'yes') reading.rest = reading.rest.subarray(reading.firstDelimiter.length);
  reading.state = found === 'yes' ? 'boundary' : 'preamble';
  return true;
}

function takePreamble(reading: Reading): boolean {
  const { bytes, isWhole } = takeUntilDelimiter(reading);
  countSurrounding(reading, bytes);
  return isWhole;
}

function takeContent(reading: Reading): boolean {
  const { bytes, isWhole } = takeUntilDelimiter(reading);
  if (bytes.length > 0) reading.handler.onData(bytes);
  if (isWhole) reading.handler.onPartEnd();
  return isWhole;
}

/**
 * Takes the bytes that certainly precede the next delimiter. When the delimiter is complete (`isWhole`), it takes that
 * too.
 */
function takeUntilDelimiter(reading: Reading): { readonly bytes: Buffer; readonly isWhole: boolean } {
  const { rest, delimiter } = reading;
  const found = rest.indexOf(delimiter);
  const isWhole = found !== -1;
  const length = isWhole ? found : rest.length - startOfDelimiter(rest, delimiter);
  reading.rest = rest.subarray(isWhole ? length + delimiter.length : length);
  if (isWhole) reading.state = 'boundary';
  return { bytes: rest.subarray(0, length), isWhole };
}

function countSurrounding(reading: Reading, bytes: Buffer): void {
  reading.surrounding += bytes.length;
  if (reading.surrounding > multipartLimits.surroundingBytes) {
    throw multipartMalformed(
      `no boundary where one is expected, or over ${multipartLimits.surroundingBytes} bytes around the parts.`,
    );
  }
}

/** Parses the rest of a boundary line: blanks and a line end before a part, or two hyphens, which end the message. */
function takeBoundaryLine(reading: Reading): boolean {
  const { rest } = reading;
  if (rest.length < 2) return false;
  if (rest[0] === hyphen && rest[1] === hyphen) {
    reading.rest = rest.subarray(2);
    reading.state = 'closing';
    return true;
  }
  const padding = blanksIn(rest);
  if (rest.length < padding + 2) return false;
  if (rest[padding] !== CR || rest[padding + 1] !== LF) {
    throw multipartMalformed('a boundary is followed neither by CRLF nor by two hyphens.');
  }
  // The line end stays, so that an empty header block ends like any other.
  reading.rest = rest.subarray(padding);
  reading.state = 'headers';
  return true;
}

function takeHeaders(reading: Reading): boolean {
  const { rest, handler } = reading;
  const end = rest.indexOf('\r\n\r\n');
  // The headers have one line end before them and two after them.
  const isLong = end === -1 ? rest.length > multipartLimits.headerBytes + 6 : end - 2 > multipartLimits.headerBytes;
  if (isLong) {
    throw multipartMalformed(`the headers of a part are longer than ${multipartLimits.headerBytes} bytes.`);
  }
  if (end === -1) return false;
  reading.parts += 1;
  if (reading.parts > multipartLimits.parts) {
    throw multipartMalformed(`there are more than ${multipartLimits.parts} parts.`);
  }
  handler.onPart(readPartHeaders(rest.toString('latin1', 2, Math.max(end, 2)), multipartLimits.headerLines));
  reading.rest = rest.subarray(end + 2);
  reading.state = 'start';
  return true;
}

/** The line end after the headers may already belong to a boundary: a part without content (RFC 2046 §5.1.1). */
function takeContentStart(reading: Reading): boolean {
  const found = startsWith(reading.rest, reading.delimiter);
  if (found === 'perhaps') return false;
  if (found === 'no') reading.rest = reading.rest.subarray(lineEnd.length);
  reading.state = 'content';
  return true;
}

function takeClosingLine(reading: Reading): boolean {
  const { rest } = reading;
  const padding = blanksIn(rest);
  if (rest.length < padding + 2 && (rest.length === padding || rest[padding] === CR)) return false;
  if (rest[padding] !== CR || rest[padding + 1] !== LF) {
    throw multipartMalformed('the final boundary is followed by something else than a line end.');
  }
  reading.rest = rest.subarray(padding + 2);
  reading.state = 'epilogue';
  return true;
}

function takeEpilogue(reading: Reading): boolean {
  countSurrounding(reading, reading.rest);
  reading.rest = nothing;
  return false;
}

/** `perhaps` means that the available bytes match. */
function startsWith(bytes: Buffer, wanted: Buffer): 'yes' | 'no' | 'perhaps' {
  const front = bytes.subarray(0, wanted.length);
  if (!front.equals(wanted.subarray(0, front.length))) return 'no';
  return front.length === wanted.length ? 'yes' : 'perhaps';
}

function blanksIn(bytes: Buffer): number {
  let count = 0;
  while (bytes[count] === 0x20 || bytes[count] === 0x09) count += 1;
  if (count > multipartLimits.paddingBytes) throw multipartMalformed('there are too many blanks after a boundary.');
  return count;
}

/** Returns how many of the last bytes may be the start of a delimiter. CR occurs only as its first byte. */
function startOfDelimiter(bytes: Buffer, delimiter: Buffer): number {
  const from = Math.max(0, bytes.length - delimiter.length + 1);
  const at = bytes.subarray(from).lastIndexOf(CR);
  if (at === -1) return 0;
  const tail = bytes.subarray(from + at);
  return tail.equals(delimiter.subarray(0, tail.length)) ? tail.length : 0;
}
