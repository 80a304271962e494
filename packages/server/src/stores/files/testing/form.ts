export const boundary = 'XxBoundaryxX';

export interface Form {
  readonly purpose?: string;
  readonly name?: string;
  readonly content?: Buffer | string;
  /** Some existing clients send the file first. */
  readonly order?: 'file first' | 'purpose first';
}

/** Builds a well-formed body. */
export function formBody(form: Form = {}): Buffer {
  const { purpose = 'record_file', name = 'notes.txt', content = 'some text\n', order = 'file first' } = form;
  const file = Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  const field = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n`);
  const parts = order === 'file first' ? [file, field] : [field, file];
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

export interface Head {
  readonly key?: string;
  readonly length?: number | 'chunked';
  readonly contentType?: string;
  readonly project?: string;
  readonly more?: readonly string[];
}

/** Builds the head of an upload. Its length is that of the body unless the test needs a wrong one. */
export function head(body: Buffer, options: Head = {}): string {
  const { key, length = body.length, contentType = `multipart/form-data; boundary=${boundary}` } = options;
  return [
    'POST /v1/files HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${options.project ?? 'projecta'}`,
    ...(contentType === '' ? [] : [`Content-Type: ${contentType}`]),
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    ...(key === undefined ? [] : [`Idempotency-Key: ${key}`]),
    ...(options.more ?? []),
    '\r\n',
  ].join('\r\n');
}
