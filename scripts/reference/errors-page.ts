import { errorCodes } from '../../packages/contract/src/contract.ts';
import { recordFailureCodes } from '../../packages/server/src/stores/collections/records/record-failures.ts';
import { extractionFailureCodes, rowCodes } from '../../packages/server/src/stores/extraction/extraction.ts';

/** Renders docs/reference/errors.md. */
export function describeErrors(): string {
  return [
    '# Errors',
    '',
    'Generated from `packages/contract/src/codes.ts`, `packages/server/src/stores/extraction/extraction.ts` and',
    '`packages/server/src/stores/collections/records/record-failures.ts` by `npm run reference`; do not edit.',
    '',
    '## Answers',
    '',
    'Every error, on every path, has this body:',
    '',
    '```json',
    '{"status":"error","error":{"code":"…","message":"…","details":[{}],"request_id":"…"}}',
    '```',
    '',
    '`details` is present if it contains more than the message. With `Accept: application/problem+json` the answer is RFC 9457.',
    'Of `REQUEST_VALIDATION_ERROR` it lists what is wrong, whether with a field of ours, an input of a plugin or credentials:',
    '`path`, `found` and `expected`; the message describes the first five. What a plugin itself refuses has `path`, `run_id` and',
    'its `message`. `output_violations` of a run have `path`, `found` and `expected` too.',
    'A code keeps its meaning for ever. Headers over 16 KiB result in status 431 with the code `INVALID_REQUEST`.',
    '',
    '| Code | HTTP status | Meaning |',
    '|---|---|---|',
    ...Object.entries(errorCodes).map(([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} |`),
    '',
    '## Records',
    '',
    'A record whose status is `error` says why in `error.code`:',
    '',
    '| Code | Meaning |',
    '|---|---|',
    ...Object.entries({ ...extractionFailureCodes, ...recordFailureCodes }).map(
      ([code, meaning]) => `| \`${code}\` | ${meaning} |`,
    ),
    '',
    '## Rows',
    '',
    'A row of a sheet that became no pair is listed under `GET …/records/{record_id}/rows` with its `code`:',
    '',
    '| Code | Status | Meaning |',
    '|---|---|---|',
    ...Object.entries(rowCodes).map(([code, { status, message }]) => `| \`${code}\` | \`${status}\` | ${message} |`),
    '',
  ].join('\n');
}
