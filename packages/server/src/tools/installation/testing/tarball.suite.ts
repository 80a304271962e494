import { gzipSync } from 'node:zlib';

export interface TarEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  /** Default: a file. */
  readonly type?: string;
}

/** Writes a `.tgz` as npm does. */
export function tarball(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, content = '', type = '0' }) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644', 100);
    header.write(bytes.length.toString(8).padStart(11, '0'), 124);
    header.fill(' ', 148, 156);
    header.write(type, 156);
    header.write('ustar', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

/** A package with one file of code. */
export function packageOf(code: string, facts: Readonly<Record<string, unknown>> = {}): Buffer {
  const about = { name: '@activepieces/piece-tea', version: '1.0.0', main: './src/index.js', ...facts };
  return tarball([
    { name: 'package/package.json', content: JSON.stringify(about) },
    { name: 'package/src/index.js', content: code },
  ]);
}
