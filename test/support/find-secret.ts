/** An occurrence of a secret in bytes, in a form from which a person or a program can recover it. */
export interface Found {
  readonly secret: string;
  readonly form: string;
  /** The text around the occurrence. */
  readonly context: string;
}

/** The length of a part of a secret that counts as an occurrence, because a secret may be split in two. */
const pieceLength = 12;
const pieceStep = 4;

/** Searches bytes for all secrets at once. */
export interface SecretFinder {
  find(bytes: Buffer): Found[];
  add(secret: string): void;
}

interface Needle {
  readonly secret: string;
  readonly form: string;
  readonly bytes: Buffer;
}

/**
 * Searches for secrets unchanged, in pieces, reversed, in lower case, and in the notations in which credentials are
 * echoed. It shares no code with the redaction of the product.
 */
export function createSecretFinder(secrets: Iterable<string>): SecretFinder {
  /** Search patterns by their first four bytes, so that one pass over the bytes is enough. */
  const needles = new Map<number, Needle[]>();
  const beginnings = new Uint8Array(0x1_0000);

  function add(secret: string): void {
    for (const [form, bytes] of createNeedles(secret)) {
      const prefix = bytes.readInt32LE();
      beginnings[prefix & 0xffff] = 1;
      needles.set(prefix, [...(needles.get(prefix) ?? []), { secret, form, bytes }]);
    }
  }

  function find(bytes: Buffer): Found[] {
    const found = new Map<string, Found>();
    for (let at = 0; at + 4 <= bytes.length; at += 1) {
      const two = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
      if (beginnings[two] !== 1) continue;
      for (const { secret, form, bytes: needle } of needles.get(bytes.readInt32LE(at)) ?? []) {
        if (found.has(secret) || !bytes.subarray(at, at + needle.length).equals(needle)) continue;
        const context = bytes.toString('latin1', Math.max(0, at - 80), at + needle.length + 40);
        found.set(secret, { secret, form, context });
      }
    }
    return [...found.values()];
  }

  for (const secret of secrets) add(secret);
  return { find, add };
}

function* createNeedles(secret: string): Generator<readonly [string, Buffer]> {
  for (let at = 0; at + pieceLength <= secret.length; at += pieceStep) {
    yield [`piece ${at}`, Buffer.from(secret.slice(at, at + pieceLength))];
  }
  const json = JSON.stringify(secret).slice(1, -1);
  const texts: Record<string, string> = {
    'as it is': secret,
    'in lower case': secret.toLowerCase(),
    backwards: [...secret].reverse().join(''),
    json,
    'json in json': JSON.stringify(json).slice(1, -1),
    url: encodeURIComponent(secret),
    form: new URLSearchParams([['', secret]]).toString().slice(1),
    html: secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
    hex: Buffer.from(secret).toString('hex'),
    'HEX in upper case': Buffer.from(secret).toString('hex').toUpperCase(),
    'UTF-16 in JSON': [...secret].join('\\u0000'),
  };
  for (const [form, text] of Object.entries(texts)) yield [form, Buffer.from(text)];
  for (const form of ['json', 'url', 'form', 'html']) {
    yield [`hex of ${form}`, Buffer.from(Buffer.from(texts[form] ?? '').toString('hex'))];
  }
  yield ['UTF-16LE', Buffer.from(secret, 'utf16le').subarray(0, -1)];
  yield ['UTF-16BE', Buffer.from(secret, 'utf16le').swap16().subarray(1)];
  yield ['hex of UTF-16', Buffer.from(Buffer.from(secret, 'utf16le').subarray(0, -1).toString('hex'))];
  const utf16 = [...secret].join('\0');
  for (const [form, text] of Object.entries({ base64: secret, 'base64 of url': encodeURIComponent(secret), utf16 })) {
    for (const behind of [0, 1, 2]) {
      const base64 = innerBase64(text, behind);
      yield [`${form} behind ${behind}`, Buffer.from(base64)];
      yield [`${form} in a URL, behind ${behind}`, Buffer.from(encodeURIComponent(base64))];
      yield [`${form} for a URL, behind ${behind}`, Buffer.from(base64.replaceAll('+', '-').replaceAll('/', '_'))];
    }
  }
}

/** Returns the base64 characters that depend only on the secret when it is part of a longer text. */
function innerBase64(secret: string, behind: number): string {
  const whole = Buffer.concat([Buffer.alloc(behind), Buffer.from(secret)]).toString('base64');
  const bits = (behind + Buffer.byteLength(secret)) * 8;
  return whole.slice(Math.ceil((behind * 8) / 6), Math.floor(bits / 6));
}
