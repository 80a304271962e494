/** The media types that a client accepts, by its `Accept` header. Source: RFC 9110 §12.5.1. */
export interface Accepted {
  readonly json: boolean;
  readonly events: boolean;
}

/** The specification asks clients to name both types, but any type, a missing header and JSON alone are valid HTTP too. */
export function readAccept(header: string | undefined): Accepted {
  const ranges = (header ?? '*/*').toLowerCase().split(',').map(readRange);
  const accepts = (type: string) => {
    const [group = ''] = type.split('/');
    // The most specific range decides.
    for (const name of [type, `${group}/*`, '*/*']) {
      const range = ranges.find((one) => one.name === name);
      if (range !== undefined) return range.isWanted;
    }
    return false;
  };
  return { json: accepts('application/json'), events: accepts('text/event-stream') };
}

function readRange(text: string) {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { name: name === '' ? '*/*' : name, isWanted: quality === undefined || Number(quality) > 0 };
}

/**
 * Removes `params: null` and the members of `params` that are null, such as `arguments` and `cursor`: they are absent.
 * Without `events`, also removes the progress token, because only a stream of events reports progress.
 */
export function readMessage(sent: unknown, { events }: Pick<Accepted, 'events'>): unknown {
  if (!isObject(sent) || !Object.hasOwn(sent, 'params')) return sent;
  const { params, ...rest } = sent;
  if (params === null) return rest;
  if (!isObject(params)) return sent;
  const hasNull = Object.values(params).includes(null);
  const present = hasNull ? withoutNulls(params) : params;
  const { _meta: meta } = present;
  if (events || !isObject(meta) || meta.progressToken === undefined) {
    return hasNull ? { ...rest, params: present } : sent;
  }
  const { progressToken: _, ...others } = meta;
  return { ...rest, params: { ...present, _meta: others } };
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutNulls(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}
