/** The parts of a request of any operation. */
export interface CallParts {
  readonly path?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
}

export interface EncodedCall {
  readonly method: string;
  /** The path and the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData | string | null;
}

/**
 * Encodes a call of an operation such as `GET /v1/files/{file_id}`. A body becomes JSON, except for a form.
 * @throws TypeError when a value of the path is empty, `.` or `..`, which would name another path
 */
export function encodeCall(endpoint: string, call: CallParts): EncodedCall {
  const [method = '', template = ''] = endpoint.split(' ');
  const { body, idempotencyKey } = call;
  const given = Object.entries(call.headers ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    method,
    target: fillPath(template, call.path ?? {}) + describeQuery(call.query ?? {}),
    headers: {
      ...(body === undefined || body instanceof FormData ? {} : { 'Content-Type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      ...Object.fromEntries(given),
    },
    body: body === undefined ? null : body instanceof FormData ? body : encodeJson(body),
  };
}

/** The types of TypeScript do not have `rawJSON` yet. */
const rawJson = JSON as unknown as { readonly rawJSON?: (text: string) => unknown };

/**
 * Encodes JSON. A BigInt becomes an integer with all its digits.
 * @throws TypeError for a BigInt where the runtime has no `JSON.rawJSON`
 */
function encodeJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' && rawJson.rawJSON !== undefined ? rawJson.rawJSON(String(member)) : member,
  );
}

function fillPath(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    // `new URL` treats both dots as the folders of a file system, also percent-encoded.
    if (typeof value !== 'string' || ['', '.', '..'].includes(value)) {
      throw new TypeError(
        `${name} must be an id; received ${typeof value === 'string' ? `"${value}"` : typeof value}.`,
      );
    }
    return encodeURIComponent(value);
  });
}

function describeQuery(query: NonNullable<CallParts['query']>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters}`;
}
