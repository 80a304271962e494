import { Secret } from '../../platform/secret.ts';
import type { S3Place } from '../../storage/s3/s3-client.ts';
import type { Environment } from './environment.ts';
import { isServiceUrl } from './setting-checks.ts';

/** A place, and how long it keeps the content of deleted files. */
export interface ObjectStorage extends S3Place {
  readonly keepDeletedDays: number;
}

/** Bucket names of S3, and prefixes that need no encoding in a console or a policy. */
export const isObjectStorage = (text: string) =>
  /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9_][A-Za-z0-9._-]{0,63}){0,8}\/?(\?keep_deleted_days=[1-9][0-9]{0,3})?$/.test(
    text,
  );

/**
 * Reads the place of the object storage, and the variables that programs for S3 share. Adds an error for each variable that is
 * missing or not valid.
 */
export function readObjectStorage(
  url: string | null,
  environment: Environment,
  errors: string[],
): ObjectStorage | null {
  if (url === null) return null;
  const [path = '', days = '30'] = url.slice('s3://'.length).split('?keep_deleted_days=');
  const [bucket = '', ...prefix] = path.split('/');
  const read = (...names: readonly string[]) => names.map((name) => environment[name]).find((text) => text) ?? null;
  const required = (...names: readonly string[]) => {
    const text = read(...names);
    if (text === null) errors.push(`QUARTERMASTER_BLOBS is set: set ${names[0]}, too.`);
    return text ?? '';
  };
  const endpoint = read('AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL');
  if (endpoint !== null && !isServiceUrl(endpoint))
    errors.push('AWS_ENDPOINT_URL must be an http or https URL without query.');
  const style = read('AWS_S3_FORCE_PATH_STYLE');
  if (style !== null && !/^(true|false)$/.test(style)) errors.push('AWS_S3_FORCE_PATH_STYLE must be true or false.');
  const token = read('AWS_SESSION_TOKEN');
  return {
    bucket,
    prefix: prefix.filter((part) => part !== '').join('/'),
    endpoint,
    // Most services other than that of Amazon accept any region.
    region:
      endpoint === null
        ? required('AWS_REGION', 'AWS_DEFAULT_REGION')
        : (read('AWS_REGION', 'AWS_DEFAULT_REGION') ?? 'us-east-1'),
    // A bucket with a dot in its name has no certificate as a host name.
    pathStyle: style === null ? endpoint !== null || bucket.includes('.') : style === 'true',
    accessKeyId: required('AWS_ACCESS_KEY_ID'),
    keepDeletedDays: Number(days),
    secretAccessKey: new Secret(required('AWS_SECRET_ACCESS_KEY')),
    sessionToken: token === null ? null : new Secret(token),
  };
}
