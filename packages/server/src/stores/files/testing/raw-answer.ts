import type { Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** The body as JSON; undefined for other bodies. */
  readonly json: AnswerJson | undefined;
}

export interface AnswerJson {
  readonly status: 'success' | 'error';
  // Tests read members of many shapes.
  readonly data: Record<string, unknown>;
  readonly error: { readonly code: string; readonly message: string };
}

/** Reads one HTTP response with a Content-Length. Rejects when the connection ends before the response is complete. */
export function readAnswer(socket: Socket): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const answer = parse(received);
      if (answer !== undefined) resolve(answer);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`no whole answer in ${JSON.stringify(received.toString('latin1'))}`)));
  });
}

function parse(received: Buffer): Answer | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  if (status === 100) return parse(received.subarray(end + 4));
  const length = Number(headers.get('content-length') ?? 0);
  const body = received.subarray(end + 4, end + 4 + length);
  if (body.length < length) return undefined;
  const isJson = headers.get('content-type')?.includes('json') === true;
  return { status, headers, body, json: isJson ? JSON.parse(body.toString()) : undefined };
}
