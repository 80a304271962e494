import { Problem } from '../../../platform/problem.ts';
import { fieldInvalid } from '../../../platform/validation/validation-error.ts';

/** @param path of the value in the input, as a JSON Pointer */
function placeOf(path: string): string {
  return `body/input_params${path}`;
}

/** A caller without a key never reads stored files, also where plugins need no key. */
export function keyNeededForFile(path: string): Problem {
  return new Problem(
    'APIKEY_VALIDATION_FAILED',
    `${placeOf(path)} names a stored file, which needs an API key with the scope "files". Send it in the header "Authorization: Bearer <API_KEY>".`,
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}

export function scopeNeededForFile(path: string): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    `${placeOf(path)} names a stored file, but the API key lacks the scope "files". Use a key with this scope, or send the content as base64.`,
  );
}

export function tooManyFileInputs(path: string, limit: number): Problem {
  return fieldInvalid(placeOf(path), 'one file more', `left out: an input names at most ${limit} files`);
}

export function fileInputsTooLarge(path: string, { limit, found }: { limit: number; found: number }): Problem {
  const place = placeOf(path);
  return new Problem(
    'FILE_TOO_LARGE',
    `${place} must be a smaller file: the files of one input have at most ${limit} bytes together; received ${found}.`,
    { details: [{ path: place, max_bytes: limit }] },
  );
}

export function artifactExpired(path: string): Problem {
  return fieldInvalid(
    placeOf(path),
    'one that has expired. Run the plugin that created it again',
    'an artifact that is still stored',
  );
}

export function fileTypeRefused(path: string, { wanted, found }: { wanted: string; found: string }): Problem {
  return fieldInvalid(placeOf(path), `a file whose content is ${found}`, `a file of the type ${wanted}`);
}

/** @param allowed such as `at most 100` */
export function fileLengthRefused(path: string, characters: number, allowed: string): Problem {
  return fieldInvalid(placeOf(path), `a file with ${characters}`, `a file with ${allowed} characters of base64`);
}

/** The files that runs hold in memory reach the limit of the process. */
export function fileInputsBusy(): Problem {
  return new Problem(
    'TOO_MANY_REQUESTS',
    'The files of other runs take all memory for inputs. Retry after the time in Retry-After.',
    { retryAfter: 1 },
  );
}

/** The data folder of this process is not that of the process that serves files. */
export function filesNotReachable(path: string): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    `${placeOf(path)} names a stored file, which this process cannot read: its data folder is not that of the process that serves files. Send the content as base64.`,
  );
}
