import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { startFauxqs } from 'fauxqs';
import { Secret } from '../../../platform/secret.ts';
import { createAwsSigner } from '../../../tools/egress/signing/sign-aws.ts';
import { elementOf, type S3Place } from '../s3-client.ts';

/**
 * What the proxy does to one request. `cut`: it closes the connection before the request arrives. `lost`: the request succeeds, and
 * its answer is lost. `repeated`: the request arrives twice. `late`: it is refused and arrives afterwards. `refused`: 503 SlowDown.
 * `conflict`: 409 OperationAborted. `error200`: status 200 with an error. `silent`: no answer. `halved`: the answer is cut in the
 * middle. `stalled`: it stops there. `changed`: a byte of the body is changed. `unchecked`: neither signature nor hashes are checked,
 * as by some servers.
 */
export type S3Fault =
  | 'cut'
  | 'lost'
  | 'repeated'
  | 'late'
  | 'refused'
  | 'conflict'
  | 'error200'
  | 'silent'
  | 'halved'
  | 'stalled'
  | 'changed'
  | 'unchecked';

export interface S3RequestSeen {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly bytes: number;
}

/** Returns the faults that a request meets in practice. */
export function faultsOf({ method, path, bytes }: S3RequestSeen): readonly S3Fault[] {
  if (method === 'GET') return ['cut', 'lost', 'refused', ...(path.includes('/blobs/') ? (['halved'] as const) : [])];
  if (method === 'POST')
    return path.includes('uploadId') ? ['error200', 'cut', 'lost', 'refused', 'late', 'conflict'] : ['cut', 'refused'];
  if (method !== 'PUT') return ['cut', 'lost', 'repeated', 'refused'];
  if (bytes === 0) return ['cut', 'lost', 'refused', 'error200'];
  return ['cut', 'lost', 'repeated', 'late', 'refused', 'conflict', 'changed', 'error200'];
}

export interface S3Server {
  readonly place: S3Place;
  /** Every request, in the order of arrival. */
  readonly seen: S3RequestSeen[];
  readonly faults: Map<S3Fault, number>;
  /** Chooses the fault of a request. */
  choose: (request: S3RequestSeen) => S3Fault | undefined;
  close(): Promise<void>;
}

const [bucket, accessKeyId, secretAccessKey, region] = ['store', 'key-id', 'secret-key', 'us-east-1'];

/**
 * Starts an S3 server in memory behind a proxy. The server accepts any signature and ignores Content-MD5, the hash of the body and
 * conditions; the proxy checks them. A body that is cut stores nothing.
 */
export async function startS3Server(prefix = 'some/prefix'): Promise<S3Server> {
  const server = await startFauxqs({ port: 0, logger: false });
  server.createBucket(bucket);
  const seen: S3RequestSeen[] = [];
  const faults = new Map<S3Fault, number>();
  const late: Array<Promise<unknown>> = [];
  const state: Pick<S3Server, 'choose'> = { choose: () => undefined };
  const sign = createAwsSigner({ accessKeyId, secretAccessKey, sessionToken: undefined, service: 's3', region });

  function forward(method: string, path: string, headers: IncomingMessage['headers'], body: Buffer): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const sent = request({ port: server.port, method, path, headers, host: '127.0.0.1' }, (answer) => {
      buffer(answer).then((content) => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, content });
      }, reject);
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  }

  /** The server takes at most 11 MiB in one request, so it gets a larger object in parts. */
  async function sendParts(method: string, path: string, headers: IncomingMessage['headers'], body: Buffer) {
    const most = 10 * 2 ** 20;
    if (method !== 'PUT' || body.length <= most) return await forward(method, path, headers, body);
    const begun = await forward('POST', `${path}?uploads`, {}, Buffer.alloc(0));
    const uploadId = elementOf(begun.content.toString(), 'UploadId');
    const parts: string[] = [];
    for (let at = 0; at < body.length; at += most) {
      const part = `${path}?uploadId=${uploadId}&partNumber=${parts.length + 1}`;
      const type = { 'content-type': 'application/octet-stream' };
      const { headers: found } = await forward('PUT', part, type, body.subarray(at, at + most));
      parts.push(`<Part><PartNumber>${parts.length + 1}</PartNumber><ETag>${found.etag}</ETag></Part>`);
    }
    const list = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    return await forward('POST', `${path}?uploadId=${uploadId}`, { 'content-type': 'application/xml' }, list);
  }

  /** Returns the error of a request that a real server refuses. */
  async function refusal(incoming: IncomingMessage, body: Buffer): Promise<readonly [number, string] | undefined> {
    const { method = '', url = '', headers } = incoming;
    const sha256 = createHash('sha256').update(body).digest('hex');
    const [path = '', query = ''] = url.split('?');
    const signed = /SignedHeaders=([^,]*)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
    const ownHeaders = Object.fromEntries(
      signed
        .filter((name) => !/^(host|x-amz-(date|content-sha256))$/.test(name))
        .map((name) => [name, String(headers[name])]),
    );
    const time = String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
    const signable = { method, host: headers.host ?? '', path, query, headers: ownHeaders, body: undefined };
    const bodySha256 = String(headers['x-amz-content-sha256']);
    const expected = sign({ ...signable, bodySha256 }, Date.parse(time)).headers.authorization;
    if (headers.authorization !== expected) return [403, 'SignatureDoesNotMatch'];
    if (bodySha256 !== sha256) return [400, 'XAmzContentSHA256Mismatch'];
    const md5 = createHash('md5').update(body).digest('base64');
    if (method === 'PUT' && headers['x-amz-copy-source'] === undefined && headers['content-md5'] === undefined)
      return [400, 'InvalidRequest'];
    if (headers['content-md5'] !== undefined && headers['content-md5'] !== md5) return [400, 'BadDigest'];
    if (headers['if-none-match'] === '*' && (await forward('HEAD', url, {}, Buffer.alloc(0))).status === 200)
      return [412, 'PreconditionFailed'];
    return undefined;
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming;
    let body = await buffer(incoming);
    if (!incoming.complete) return;
    const about = { method, path, bytes: body.length };
    seen.push(about);
    const fault = state.choose(about);
    if (fault !== undefined) faults.set(fault, (faults.get(fault) ?? 0) + 1);
    if (fault === 'cut') return void response.destroy();
    if (fault === 'refused') return sendError(response, 503, 'SlowDown');
    if (fault === 'conflict') return sendError(response, 409, 'OperationAborted');
    if (fault === 'silent') return;
    if (fault === 'error200') return sendError(response, 200, 'InternalError');
    if (fault === 'changed') body = Buffer.concat([body.subarray(0, -1), Buffer.from([(body.at(-1) ?? 0) ^ 1])]);
    const refused = fault === 'unchecked' ? undefined : await refusal(incoming, body);
    if (refused !== undefined) return sendError(response, ...refused);
    const send = () => sendParts(method, path, headers, body);
    if (fault === 'late') {
      sendError(response, 500, 'InternalError');
      await once(response, 'close');
      late.push(send());
      return;
    }
    const found = await send();
    if (fault === 'repeated') await send();
    if (fault === 'lost') return void response.destroy();
    response.writeHead(found.status, found.headers);
    if (fault !== 'halved' && fault !== 'stalled')
      return void response.end(method === 'HEAD' ? undefined : found.content);
    response.write(found.content.subarray(0, found.content.length / 2), () => {
      if (fault === 'halved') response.destroy();
    });
  }

  const proxy = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const place: S3Place = {
    bucket,
    prefix,
    endpoint: `http://127.0.0.1:${port}`,
    region,
    pathStyle: true,
    accessKeyId,
    secretAccessKey: new Secret(secretAccessKey),
    sessionToken: null,
  };
  return Object.assign(state, {
    place,
    seen,
    faults,
    async close() {
      proxy.closeAllConnections();
      proxy.close();
      await Promise.allSettled(late);
      await server.stop();
    },
  });
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly content: Buffer;
}

function sendError(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>A fault.</Message></Error>`,
  );
}
