import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { currentRun } from './current-run.ts';
import { computingText } from './piece-task.ts';

/**
 * Explains what cannot work: a piece that computes with its secret, for a signature (HMAC) or a token (JWT), holds a placeholder
 * instead. This is no security boundary. The secret is not in this process, and the broker checks each request.
 */

type Members = Readonly<Record<string, unknown>>;
type Call = (this: unknown, ...args: unknown[]) => unknown;

/** Functions that get a key or data. */
const functions = [
  ...['createHmac', 'createSecretKey', 'createPrivateKey', 'createPublicKey', 'createCipheriv', 'createDecipheriv'],
  ...['hash', 'sign', 'verify', 'hkdf', 'hkdfSync', 'pbkdf2', 'pbkdf2Sync', 'scrypt', 'scryptSync', 'argon2'],
  ...['argon2Sync', 'privateEncrypt', 'privateDecrypt', 'publicEncrypt', 'publicDecrypt'],
];
const methods: Members = {
  Hash: ['update', '_transform'],
  Hmac: ['update', '_transform'],
  Sign: ['update', 'sign', '_write'],
  Verify: ['update', 'verify', '_write'],
  Cipheriv: ['update', '_transform'],
  Decipheriv: ['update', '_transform'],
  ECDH: ['setPrivateKey'],
};
const ofSubtle = ['importKey', 'digest', 'sign', 'verify', 'encrypt', 'unwrapKey'];

/** Makes the functions of `node:crypto` and of Web Crypto refuse placeholders. Everything else is computed as before. */
export function refuseSecretsInCrypto(): void {
  guardAll(crypto, functions, 'crypto.');
  for (const [name, own] of Object.entries(methods)) {
    const { prototype } = Object(Reflect.get(crypto, name));
    if (prototype !== undefined) guardAll(prototype, own as string[], `crypto.${name}.`);
  }
  guardAll(crypto.subtle, ofSubtle, 'crypto.subtle.', true);
  syncBuiltinESMExports();
}

function guardAll(owner: object, names: readonly string[], prefix: string, isAsync = false): void {
  for (const name of names) {
    const original: unknown = Reflect.get(owner, name);
    if (typeof original !== 'function') continue;
    const guarded: Call = function (...args) {
      const field = fieldIn(args);
      if (field === undefined) return Reflect.apply(original, this, args);
      const refusal = refuse(field, prefix + name);
      if (isAsync) return Promise.reject(refusal);
      throw refusal;
    };
    const attributes = { value: guarded, writable: true, configurable: true };
    Object.defineProperty(owner, name, attributes);
  }
}

/** The whole run fails: many packages replace the error, or send the request without a signature. */
function refuse(field: string, where: string): Error {
  const message = `This piece ${computingText} ${JSON.stringify(field)} (${where}), for example for a signature. ${whyNot}`;
  const refusal = new Error(message);
  const run = currentRun.getStore();
  if (run !== undefined) run.refusal ??= refusal;
  return refusal;
}

const whyNot =
  'That is impossible: Quartermaster lends pieces placeholders and puts the secret into the request itself. Use another bundle for this service, or write one whose requests Quartermaster signs ("inject"): see docs/guides/pieces.md.';

const placeholder = /^qmph[a-z2-7]{32}$/;
/** The start of a placeholder is searched first, because few texts have it. */
const start = 'qmph';

/** The names of the secrets of a run, by the forms in which code passes them on: as they are, decoded, and in base64. */
export function formsOf(fields: Members): ReadonlyMap<string, string> {
  const held = Object.entries(fields).filter(([, value]) => typeof value === 'string' && placeholder.test(value));
  return new Map(
    held.flatMap(([name, value]) => {
      const text = String(value);
      const within = [0, 1, 2].map((offset) => {
        const encoded = Buffer.from(' '.repeat(offset) + text).toString('base64');
        return encoded.slice(4, -4);
      });
      return [text, Buffer.from(text, 'base64').toString('latin1'), ...within].map((form) => [form, name] as const);
    }),
  );
}

/** The name of the secret whose placeholder is in the values. */
export function fieldIn(values: readonly unknown[]): string | undefined {
  const forms = currentRun.getStore()?.forms;
  if (forms === undefined || forms.size === 0) return undefined;
  for (const text of values.flatMap((value) => textsOf(value))) {
    for (const [form, name] of forms) if (text.includes(form)) return name;
  }
  return undefined;
}

/** The texts in an argument, such as a key with its passphrase, or a JSON Web Key. */
function textsOf(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (ArrayBuffer.isView(value)) {
    return [Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1')];
  }
  if (value instanceof ArrayBuffer) return [Buffer.from(value).toString('latin1')];
  if (depth > 1 || typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((member) => textsOf(member, depth + 1));
}

/** Errors of code that expects a certain form of a secret, such as JSON, PEM or parts that a character separates. */
const aboutForm = /JSON|PEM|PKCS|[Pp]rivate ?[Kk]ey|secretOrPrivateKey|[Ii]nvalid (?:URL|key|token)/;

/** Explains the error of a piece that sent no credential: it misses a member, or a placeholder has not the form of its secret. */
export function explainFailure(cause: unknown): unknown {
  const run = currentRun.getStore();
  if (run === undefined || run.refusal !== undefined) return run?.refusal ?? cause;
  if (run.hasSentSecret) return cause;
  const { name, message }: { name?: unknown; message?: unknown } = Object(cause);
  const sentence = `${String(message).replace(/\.$/, '')}.`;
  if (run.missing.size > 0) return new Error(`${sentence} ${whyMissing(run.missing)}`, { cause });
  const isAboutForm = name === 'SyntaxError' || name === 'TypeError' || aboutForm.test(String(message));
  if (run.forms.size === 0 || !isAboutForm) return cause;
  const isCertain = String(message).includes(start);
  const reading = `${isCertain ? 'It reads' : 'It may have failed because it reads'} or ${computingText} (${quoted(run.forms.values())})`;
  return new Error(`${sentence} ${reading}. ${whyNot}`, { cause });
}

/** @throws Error for a URL that was built from a member that the credentials do not have */
export function assertWhole(url: string): void {
  const { missing } = currentRun.getStore() ?? {};
  if (missing !== undefined && missing.size > 0 && /\b(?:undefined|null)\b/.test(url))
    throw new Error(whyMissing(missing));
}

function whyMissing(names: Iterable<string>): string {
  return `The piece reads ${quoted(names)} of the answer of the token endpoint, which these credentials do not have. Set it if the bundle has a credential of this name; otherwise use another bundle for this service.`;
}

function quoted(names: Iterable<string>): string {
  return [...new Set(names)].map((name) => JSON.stringify(name)).join(', ');
}
