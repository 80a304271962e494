import { once } from 'node:events';
import { connect } from 'node:net';
import { requestBytes } from './load.ts';

const boundary = 'quartermaster-bench-boundary';

/** Builds a whole small upload as one request. The first bytes make each upload different. */
export function smallUpload(key: string, content: Buffer): Buffer {
  return requestBytes('POST', '/v1/files', {
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([partHead(), content, tail()]),
  });
}

/** Streams one upload of `bytes` bytes that repeats `block`. Returns the seconds and the status. */
export async function streamUpload(
  url: string,
  key: string,
  upload: { bytes: number; block: Buffer },
): Promise<{ seconds: number; status: number }> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  const started = performance.now();
  const length = partHead().length + upload.bytes + tail().length;
  const head = requestBytes('POST', '/v1/files', {
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      'Content-Length': String(length),
    },
  });
  socket.write(Buffer.concat([head, partHead()]));
  for (let sent = 0; sent < upload.bytes; sent += upload.block.length) {
    const piece = upload.block.subarray(0, Math.min(upload.block.length, upload.bytes - sent));
    if (!socket.write(piece)) await once(socket, 'drain');
  }
  socket.write(tail());
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return { seconds: (performance.now() - started) / 1000, status: Number(answer.toString('latin1', 9, 12)) };
}

function partHead(): Buffer {
  return Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nrecord_file\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="bench.txt"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
}

function tail(): Buffer {
  return Buffer.from(`\r\n--${boundary}--\r\n`);
}
