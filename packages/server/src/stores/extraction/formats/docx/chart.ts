import { childOf, childrenOf, findAll, textOf, type XmlElement } from './xml-tree.ts';

/** Returns the numbers of a chart as a table with one column for each series. Empty when the file stores none. */
export function chartRows(chart: XmlElement | undefined): string[][] {
  const series = [...findAll(chart, 'c:ser')];
  const names = series.map((one) => points(childOf(one, 'c:tx')).get(0) ?? '');
  const labels = points(childOf(series[0], 'c:cat') ?? childOf(series[0], 'c:xVal'));
  const columns = series.map((one) => numbers(childOf(one, 'c:val') ?? childOf(one, 'c:yVal')));
  const last = [labels, ...columns].reduce((most, column) => Math.max(most, lastOf(column)), -1);
  if (last < 0 || last >= mostPoints) return [];
  const rows = Array.from({ length: last + 1 }, (_, at) => [
    labels.get(at) ?? '',
    ...columns.map((column) => column.get(at) ?? ''),
  ]);
  return [['', ...names], ...rows];
}

function lastOf(column: ReadonlyMap<number, string>): number {
  return column.keys().reduce((most, at) => Math.max(most, at), -1);
}

const mostPoints = 10_000;

export function chartTitle(chart: XmlElement | undefined): string {
  const title = findAll(chart, 'c:title').next().value;
  return title === undefined ? '' : [...findAll(title, 'a:t')].map(textOf).join('');
}

/** The file stores all digits of a double, such as 4.4000000000000004. Programs show at most fifteen. */
function numbers(element: XmlElement | undefined): Map<number, string> {
  const shown = (text: string) =>
    /\d{16}/.test(text) || /\.\d{14}/.test(text) ? String(Number(Number(text).toPrecision(15))) : text;
  return new Map([...points(element)].map(([at, text]) => [at, shown(text)]));
}

function points(element: XmlElement | undefined): Map<number, string> {
  const found = new Map<number, string>();
  if (element === undefined) return found;
  for (const point of findAll(element, 'c:pt')) {
    const value = childOf(point, 'c:v');
    if (value !== undefined) found.set(Number(point.attributes.idx ?? 0), textOf(value));
  }
  if (found.size === 0) {
    const [value] = childrenOf(element, 'c:v');
    if (value !== undefined) found.set(0, textOf(value));
  }
  return found;
}
