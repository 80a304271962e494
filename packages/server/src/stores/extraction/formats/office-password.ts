import { createDecipheriv, createHash } from 'node:crypto';
import { fileDamaged, passwordUnsupported, passwordWrong } from '../extraction-error.ts';
import { elementsOf, parseXml, type XmlElement } from './docx/xml-tree.ts';

/** The two streams of an Office file with a password. */
interface Streams {
  readonly info: Buffer;
  /** Eight bytes with the size of the document, then its ciphertext. */
  readonly encrypted: Buffer;
}

const compoundFile = 'd0cf11e0a1b11ae1';
const sizeBytes = 8;
const segmentBytes = 4096;

/** Whether the bytes are the container of an Office file with a password. */
export function isEncryptedOffice(bytes: Uint8Array): boolean {
  if (Buffer.from(bytes.subarray(0, 8)).toString('hex') !== compoundFile) return false;
  return asBuffer(bytes).includes(Buffer.from('EncryptedPackage', 'utf16le'));
}

/**
 * Decrypts an Office file. Source: MS-OFFCRYPTO 2.3.4, standard and agile encryption.
 * @param format its name for messages
 * @throws ExtractionError when the password is wrong, the method is unknown or the file is damaged
 */
export async function decryptOffice(bytes: Uint8Array, password: string, format: string): Promise<Uint8Array> {
  const streams = await readStreams(bytes, format);
  try {
    const size = Number(streams.encrypted.readBigUInt64LE(0));
    const plain = isAgile(streams.info)
      ? decryptAgile(streams, password, format)
      : decryptStandard(streams, password, format);
    return plain.subarray(0, size);
  } catch (cause) {
    // Lengths and parameters that no program writes
    if (cause instanceof RangeError || (cause instanceof Error && 'code' in cause && isAboutInput(cause.code)))
      throw fileDamaged(format, 'its encryption is broken', cause);
    throw cause;
  }
}

function isAboutInput(code: unknown): boolean {
  return typeof code === 'string' && /^ERR_(?:CRYPTO|OSSL|INVALID_ARG|OUT_OF_RANGE|BUFFER)/.test(code);
}

async function readStreams(bytes: Uint8Array, format: string): Promise<Streams> {
  const { default: compound } = await import('cfb');
  try {
    const file = compound.read(asBuffer(bytes), { type: 'buffer' });
    const [info, encrypted] = ['/EncryptionInfo', '/EncryptedPackage'].map(
      (name) => compound.find(file, name)?.content,
    );
    if (info !== undefined && encrypted !== undefined && encrypted.length >= sizeBytes)
      return { info: Buffer.from(info), encrypted: Buffer.from(encrypted) };
  } catch (cause) {
    throw fileDamaged(format, 'its container is broken', cause);
  }
  throw fileDamaged(format, 'its container is broken');
}

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Version 4.4 describes itself in XML. */
function isAgile(info: Buffer): boolean {
  return info.readUInt16LE(0) === 4 && info.readUInt16LE(2) === 4;
}

const block = {
  verifierInput: Buffer.from('fea7d2763b4b9e79', 'hex'),
  verifierValue: Buffer.from('d7aa0f6d3061344e', 'hex'),
  key: Buffer.from('146e0be7abacd0d6', 'hex'),
};

function decryptAgile({ info, encrypted }: Streams, password: string, format: string): Buffer {
  const description = parseXml(info.subarray(sizeBytes));
  const [data] = elementsOf(description, 'keyData');
  // Further keys may be for the owners of certificates.
  const wrapped = [...elementsOf(description, 'encryptedKey')].find((one) => 'spinCount' in one.attributes);
  if (data === undefined || wrapped === undefined) throw passwordUnsupported(format);
  const method = readMethod(wrapped, format);
  const stretched = stretch(method.hash, method.salt, { password, rounds: readRounds(wrapped, format) });
  const unwrap = (name: string, purpose: Buffer) => {
    const key = fit(digest(method.hash, stretched, purpose), method.keyBytes);
    return decipher(method.cipher, { key, iv: fit(method.salt, method.blockBytes) }, base64Of(wrapped, name));
  };
  const input = unwrap('encryptedVerifierHashInput', block.verifierInput);
  const value = unwrap('encryptedVerifierHashValue', block.verifierValue);
  const expected = digest(method.hash, input);
  if (!value.subarray(0, expected.length).equals(expected)) throw passwordWrong(format);
  const { cipher, hash, salt, blockBytes, keyBytes } = readMethod(data, format);
  const key = unwrap('encryptedKeyValue', block.key).subarray(0, keyBytes);
  const plain = Buffer.alloc(encrypted.length - sizeBytes);
  for (let at = 0, index = 0; at < plain.length; at += segmentBytes, index += 1) {
    const segment = encrypted.subarray(sizeBytes + at, sizeBytes + at + segmentBytes);
    decipher(cipher, { key, iv: fit(digest(hash, salt, numberOf(index)), blockBytes) }, segment).copy(plain, at);
  }
  return plain;
}

interface Method {
  readonly cipher: string;
  readonly hash: string;
  readonly salt: Buffer;
  readonly keyBytes: number;
  readonly blockBytes: number;
}

const hashes: Readonly<Record<string, string>> = { SHA1: 'sha1', SHA256: 'sha256', SHA384: 'sha384', SHA512: 'sha512' };

function readMethod(element: XmlElement, format: string): Method {
  const { cipherAlgorithm, cipherChaining, hashAlgorithm = '', keyBits = '', blockSize = '' } = element.attributes;
  const hash = hashes[hashAlgorithm.replace('-', '')];
  const isKnown =
    cipherAlgorithm === 'AES' && cipherChaining === 'ChainingModeCBC' && /^(?:128|192|256)$/.test(keyBits);
  if (!isKnown || hash === undefined || blockSize !== '16') throw passwordUnsupported(format);
  const salt = base64Of(element, 'saltValue');
  return { cipher: `aes-${keyBits}-cbc`, hash, salt, keyBytes: Number(keyBits) / 8, blockBytes: 16 };
}

/** MS-OFFCRYPTO 2.3.4.10 allows ten million. */
const mostRounds = 10_000_000;

function readRounds({ attributes: { spinCount = '' } }: XmlElement, format: string): number {
  if (!/^\d{1,8}$/.test(spinCount) || Number(spinCount) > mostRounds) throw passwordUnsupported(format);
  return Number(spinCount);
}

function base64Of({ attributes }: XmlElement, name: string): Buffer {
  return Buffer.from(attributes[name] ?? '', 'base64');
}

const aesKeyBits: Readonly<Record<number, number>> = { 26126: 128, 26127: 192, 26128: 256 };
const standardRounds = 50_000;
const sha1Block = 64;

function decryptStandard({ info, encrypted }: Streams, password: string, format: string): Buffer {
  const headerAt = 12;
  const headerBytes = info.readUInt32LE(8);
  const bits = aesKeyBits[info.readUInt32LE(headerAt + 8)];
  const verifier = info.subarray(headerAt + headerBytes);
  if (info.readUInt16LE(2) !== 2 || bits === undefined || verifier.length < 72) throw passwordUnsupported(format);
  const stretched = stretch('sha1', verifier.subarray(4, 20), { password, rounds: standardRounds });
  const base = digest('sha1', stretched, numberOf(0));
  const derive = (pad: number) => {
    const padded = Buffer.alloc(sha1Block, pad);
    for (const [at, byte] of base.entries()) padded[at] = pad ^ byte;
    return digest('sha1', padded);
  };
  const key = Buffer.concat([derive(0x36), derive(0x5c)]).subarray(0, bits / 8);
  const open = (content: Buffer) => decipher(`aes-${bits}-ecb`, { key, iv: null }, content);
  const value = open(verifier.subarray(40, 72)).subarray(0, 20);
  if (!value.equals(digest('sha1', open(verifier.subarray(20, 36))))) throw passwordWrong(format);
  return open(encrypted.subarray(sizeBytes));
}

/** Slows down guessing by hashing the password repeatedly. */
function stretch(hash: string, salt: Buffer, { password, rounds }: { password: string; rounds: number }): Buffer {
  let current = digest(hash, salt, Buffer.from(password, 'utf16le'));
  for (let round = 0; round < rounds; round++) current = digest(hash, numberOf(round), current);
  return current;
}

function digest(hash: string, ...parts: readonly Buffer[]): Buffer {
  const state = createHash(hash);
  for (const part of parts) state.update(part);
  return state.digest();
}

function numberOf(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Cuts to the length, or fills up with the byte that the specification names. */
function fit(bytes: Buffer, length: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, length - bytes.length), 0x36)]).subarray(0, length);
}

function decipher(cipher: string, { key, iv }: { key: Buffer; iv: Buffer | null }, content: Buffer): Buffer {
  const state = createDecipheriv(cipher, key, iv).setAutoPadding(false);
  // The last segment may be longer than the document, but is always whole blocks.
  return Buffer.concat([state.update(content), state.final()]);
}
