import type { BundleFailure } from '../catalogue.ts';

/** The names and indexes from the root of a file to a value. */
export type FieldPath = readonly string[];

/** Collects the errors of one file. */
export interface ErrorCollector {
  add(path: FieldPath, message: string): void;
  readonly list: readonly BundleFailure[];
}

/** The field of an error about the file as a whole. */
export const wholeFile = '(file)';
/** The field of an error about an installed bundle that differs from its archive. */
export const wholeArchive = '(archive)';

/** The maximum number of errors of one file. Each is a line in the log. */
const maxErrors = 100;

export function createErrorCollector(file: string, lineOf: (path: FieldPath) => number | null): ErrorCollector {
  const list: BundleFailure[] = [];
  return {
    add: (path, message) => {
      if (list.length > maxErrors) return;
      if (list.length === maxErrors) {
        list.push({ file, line: null, field: wholeFile, message: 'There are more errors, which are not listed.' });
        return;
      }
      list.push({ file, line: lineOf(path), field: fieldName(path), message });
    },
    list,
  };
}

/** Formats a path: `input_schema.properties.lat`, `inject[0].credential`, `properties["a.b"]`. */
function fieldName(path: FieldPath): string {
  if (path.length === 0) return wholeFile;
  return path.reduce((name, segment) => {
    if (/^\d+$/.test(segment)) return `${name}[${segment}]`;
    if (!/^[\w$-]+$/.test(segment)) return `${name}[${JSON.stringify(segment)}]`;
    return name === '' ? segment : `${name}.${segment}`;
  }, '');
}
