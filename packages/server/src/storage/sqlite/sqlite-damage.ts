/** Tells SQLITE_CORRUPT and SQLITE_NOTADB, with their extended codes, from other errors. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  return code === 11 || code === 26;
}
