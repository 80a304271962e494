import { type Json, textOf } from './document.ts';
import { freeName, snakeCase, snakeWords } from './names.ts';

interface Named {
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
}

const longestId = 64;

/**
 * Returns the id of each operation: its `operationId`, else its method and path. Operations with the same one get their tag or their path
 * in front of it. A long id loses the words that most operations have, never the first one. The selection changes no id.
 */
export function pluginIds(operations: readonly Named[]): string[] {
  const byPath = ({ method, path }: Named) => snakeWords(`${method}_${path}`);
  const wanted = operations.map((one) => readable(textOf(one.operation.operationId)) || byPath(one));
  const byTag = operations.map((one, index) => withTag(one, wanted[index] ?? ''));
  const [plain, tagged] = [countsOf(wanted), countsOf(byTag)];
  const all = operations.map((one, index) => {
    const [first = '', second = ''] = [wanted[index], byTag[index]];
    if (plain.get(first) === 1) return first;
    return tagged.get(second) === 1 ? second : byPath(one);
  });
  const frequency = countsOf(all.flatMap((id) => [...new Set(id.split('_'))]));
  const next = new Map<string, number>();
  const taken = new Set(['bundle']);
  const shortened = all.map((id) => shorten(id, frequency));
  const groups = [...Map.groupBy(all, (_id, index) => shortened[index])];
  const shared = new Map(groups.map(([short, alike]) => [short, alike.length === 1 ? null : sharedWords(alike)]));
  return all.map((id, index) => {
    const words = shared.get(shortened[index]) ?? null;
    const short = words === null ? (shortened[index] ?? '') : shorten(id, words);
    const free = freeName(short, (name) => taken.has(name) || name in Object.prototype, next.get(short));
    next.set(short, Number(/_(\d+)$/.exec(free)?.[1] ?? 1) + 1);
    taken.add(free);
    return free;
  });
}

/** The words of a name; empty when most of its letters belong to another script. */
function readable(name: string): string {
  const words = snakeWords(name);
  const letters = name.slice(0, 500).normalize('NFKD').match(/\p{L}/gu)?.length ?? 0;
  const kept = words.match(/[a-z]/g)?.length ?? 0;
  return kept > 0 && kept * 2 >= letters ? words : '';
}

/** The words that all of several ids have, the longest first to remove. The others tell the ids apart. */
function sharedWords(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = countsOf(ids.flatMap((one) => [...new Set(one.split('_'))]));
  return new Map([...counts].filter(([, count]) => count === ids.length).map(([word]) => [word, word.length]));
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function withTag({ operation }: Named, id: string): string {
  const tag = snakeWords(textOf(Array.isArray(operation.tags) ? operation.tags[0] : ''));
  return tag === '' ? id : `${tag}_${id}`;
}

function shorten(id: string, frequency: ReadonlyMap<string, number>): string {
  const words = id.split('_').filter((word, index, all) => id.length <= longestId || word !== all[index - 1]);
  let length = words.join('_').length;
  while (length > longestId && words.length > 2) {
    const [, ...others] = words;
    const counts = others.map((word) => frequency.get(word) ?? 0);
    const [removed = ''] = words.splice(counts.indexOf(Math.max(...counts)) + 1, 1);
    length -= removed.length + 1;
  }
  return snakeCase(words.join('_'));
}
