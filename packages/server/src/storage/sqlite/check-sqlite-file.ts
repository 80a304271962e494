import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { databaseFileDamaged } from '../database/problems.ts';
import { isDamage } from './sqlite-damage.ts';
import { sqliteFile } from './sqlite-database.ts';

/** Milliseconds that the check waits for a lock of another process. */
const busyTimeout = 10_000;
/** The maximum number of pages of the free list that are read. Each lists about a thousand free pages. */
const mostTrunkPages = 10_000;

/** The fields of the file header: https://www.sqlite.org/fileformat2.html#the_database_header */
const header = { bytes: 100, magic: 'SQLite format 3\0', pageSize: 16, pages: 28, firstTrunk: 32, freePages: 36 };

/**
 * Checks, before the start, the parts of the database file that every request needs: the header, the size, the schema and the list
 * of free pages. A damaged list would give pages in use to new rows. The time does not depend on the number of rows.
 * A file that does not exist or is empty is not checked.
 * @throws OperatorError that names the file and the damage
 */
export function checkSqliteFile(dataFolder: string): void {
  const file = join(dataFolder, sqliteFile);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const damage = findDamage(file);
  if (damage !== undefined) throw databaseFileDamaged(file, damage.finding, damage.cause);
}

interface Damage {
  readonly finding: string;
  readonly cause?: unknown;
}

function findDamage(file: string): Damage | undefined {
  using database = new DatabaseSync(file, { timeout: busyTimeout });
  try {
    database.prepare('pragma schema_version').get();
    // Reads and parses the whole schema.
    database.prepare('select count(*) from sqlite_schema').get();
    // Afterwards the file contains every page, if no other process reads the log.
    database.exec('pragma wal_checkpoint(truncate)');
    // No other process changes the file now.
    database.exec('begin immediate');
    const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    const finding = hasLog ? undefined : checkPages(file);
    database.exec('rollback');
    return finding === undefined ? undefined : { finding };
  } catch (cause) {
    if (isDamage(cause)) return { finding: (cause as Error).message, cause };
    throw cause;
  }
}

function checkPages(file: string): string | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const read = (position: number, length: number) => {
      const bytes = Buffer.alloc(length);
      return { bytes, isWhole: readSync(descriptor, bytes, 0, length, position) === length };
    };
    const { bytes: first } = read(0, header.bytes);
    if (first.toString('latin1', 0, header.magic.length) !== header.magic) return 'the header is not that of SQLite';
    const stated = first.readUInt16BE(header.pageSize);
    const pageSize = stated === 1 ? 65_536 : stated;
    const pages = first.readUInt32BE(header.pages);
    const size = fstatSync(descriptor).size;
    if (size < pages * pageSize)
      return `the header states ${pages} pages of ${pageSize} bytes, the file has ${size} bytes`;
    return checkFreeList((page) => read((page - 1) * pageSize, pageSize).bytes, {
      pages,
      pageSize,
      next: first.readUInt32BE(header.firstTrunk),
      freePages: first.readUInt32BE(header.freePages),
    });
  } finally {
    closeSync(descriptor);
  }
}

interface FreeList {
  readonly pages: number;
  readonly pageSize: number;
  readonly next: number;
  readonly freePages: number;
}

/** Each trunk page holds the number of the next trunk, the number of its free pages, and their numbers. */
function checkFreeList(readPage: (page: number) => Buffer, { pages, pageSize, next: start, freePages }: FreeList) {
  const isPage = (page: number) => page >= 2 && page <= pages;
  const seen = new Set<number>();
  let [next, counted] = [start, 0];
  while (next !== 0 && seen.size < mostTrunkPages) {
    if (!isPage(next) || seen.has(next)) return `the list of free pages names page ${next} as its next page`;
    seen.add(next);
    const trunk = readPage(next);
    const free = trunk.readUInt32BE(4);
    if (free > pageSize / 4 - 2) return `page ${next} of the list of free pages states ${free} pages`;
    for (let index = 0; index < free; index++) {
      const page = trunk.readUInt32BE(8 + index * 4);
      if (!isPage(page)) return `page ${next} of the list of free pages names page ${page}, which does not exist`;
    }
    counted += 1 + free;
    next = trunk.readUInt32BE(0);
  }
  const isComplete = next === 0;
  return isComplete && counted !== freePages
    ? `the header states ${freePages} free pages, the list has ${counted}`
    : undefined;
}
