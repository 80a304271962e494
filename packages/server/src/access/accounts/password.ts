import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Memory in KiB, passes and lanes: the row of OWASP's table that ASVS 5.0 requires for argon2id. */
const wanted = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const saltBytes = 16;
const hashBytes = 32;
const form = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

interface Parsed {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const derive = promisify(
  (parameters: Argon2Parameters, done: (error: Error | null, key: NonSharedBuffer) => void): void =>
    argon2('argon2id', parameters, done),
);

/** Returns the hash of a password in PHC string format, with a new salt. It takes 26 ms of a thread and 19 MiB. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await compute(password, { ...wanted, salt, length: hashBytes });
  const { memory, passes, parallelism } = wanted;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
}

/** @throws Error when the stored text is not a hash that this version reads */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const parsed = parse(stored);
  const hash = await compute(password, { ...parsed, length: parsed.hash.length });
  return timingSafeEqual(hash, parsed.hash);
}

/** Returns whether the hash has outdated parameters. The next sign-in replaces it, because it has the password. */
export function isOutdated(stored: string): boolean {
  const { memory, passes, parallelism, hash } = parse(stored);
  return (
    memory !== wanted.memory ||
    passes !== wanted.passes ||
    parallelism !== wanted.parallelism ||
    hash.length !== hashBytes
  );
}

interface HashParameters extends Omit<Parsed, 'hash'> {
  readonly length: number;
}

/** Normalizes to NFKC, because two keyboards may compose the same password differently (NIST SP 800-63B §5.1.1.2). */
function compute(password: string, parameters: HashParameters): Promise<Buffer> {
  return derive({
    message: Buffer.from(password.normalize('NFKC')),
    nonce: parameters.salt,
    memory: parameters.memory,
    passes: parameters.passes,
    parallelism: parameters.parallelism,
    tagLength: parameters.length,
  });
}

function parse(stored: string): Parsed {
  const match = form.exec(stored);
  if (match === null) throw new Error('a stored password hash is not readable');
  const [, memory, passes, parallelism, salt = '', hash = ''] = match;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
