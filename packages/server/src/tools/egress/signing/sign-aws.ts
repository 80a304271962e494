import { createHash, createHmac } from 'node:crypto';
import { encodeStrictly, type Sign, type Signable, sortedQuery } from './signing.ts';

/** The inputs of a Signature Version 4. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly service: string;
  readonly region: string;
}

const algorithm = 'AWS4-HMAC-SHA256';
/** Headers that a proxy may change. They are not signed. */
const unsigned = new Set(['authorization', 'user-agent', 'accept', 'accept-encoding', 'content-length']);
/** Services that require the hash of the body as a header too. */
const wantsBodyHash = /^(?:s3.*|glacier|aoss|vpc-lattice-svcs)$/;

/**
 * AWS Signature Version 4 in the `Authorization` header (AWS "Create a signed AWS API request"; for S3 "Signature
 * Calculations for the Authorization Header: Transferring Payload in a Single Chunk"). Why not a library: ADR 0028.
 */
export function createAwsSigner(keys: AwsKeys): Sign {
  const { accessKeyId, service, region, sessionToken } = keys;
  let signingKey: { readonly day: string; readonly key: Buffer } | undefined;
  return (request, now) => {
    const time = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const bodyHash = request.bodySha256 ?? sha256(request.body ?? '');
    const added: Record<string, string> = { 'x-amz-date': time };
    if (sessionToken !== undefined) added['x-amz-security-token'] = sessionToken;
    if (wantsBodyHash.test(service)) added['x-amz-content-sha256'] = bodyHash;
    const headers = canonicalHeaders({ ...request.headers, ...added, host: request.host });
    const names = headers.map(([name]) => name).join(';');
    const canonical = [
      request.method,
      canonicalPath(request, service),
      sortedQuery(request.query),
      ...headers.map(([name, value]) => `${name}:${value}`),
      '',
      names,
      bodyHash,
    ].join('\n');
    const day = time.slice(0, 8);
    if (signingKey?.day !== day) signingKey = { day, key: awsSigningKey(keys, now) };
    const scope = `${day}/${region}/${service}/aws4_request`;
    const toSign = [algorithm, time, scope, sha256(canonical)].join('\n');
    const signature = hmac(signingKey.key, toSign).toString('hex');
    const authorization = `${algorithm} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
    return { headers: { ...added, authorization }, query: [] };
  };
}

/** The signing key of one day, region and service. */
export function awsSigningKey({ secretAccessKey, region, service }: AwsKeys, now: number): Buffer {
  const date = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  return [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, date));
}

function canonicalHeaders(headers: Readonly<Record<string, string>>): Array<[string, string]> {
  return Object.entries(headers)
    .filter(([name]) => !unsigned.has(name))
    .map(([name, value]): [string, string] => [name, value.trim().replace(/ +/g, ' ')])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The canonical path. S3 encodes each segment once; other services encode the sent path once more. */
function canonicalPath({ path }: Signable, service: string): string {
  if (service.startsWith('s3')) return path.split('/').map(encodeOnce).join('/');
  return path
    .replace(/\/{2,}/g, '/')
    .split('/')
    .map(encodeStrictly)
    .join('/');
}

function encodeOnce(part: string): string {
  try {
    return encodeStrictly(decodeURIComponent(part));
  } catch {
    return encodeStrictly(part);
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
