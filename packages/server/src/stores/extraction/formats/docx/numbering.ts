import { numeralOf } from './numerals.ts';
import type { Styles } from './styles.ts';
import { alternativesOf, childOf, childrenOf, isOn, valOf, type XmlElement } from './xml-tree.ts';

/** Counts the items of lists. */
export interface Numbering {
  /** Returns the label of the next item as shown in the document: `-` for bullets, empty when it has none. */
  next(list: { readonly id: string; readonly level: number }): string;
}

interface Level {
  readonly start: number;
  readonly format: string;
  /** The digits of the format `custom`, such as `001`. */
  readonly digits: number;
  /** `%1` stands for the number of the first level. */
  readonly text: string;
  readonly legal: boolean;
}

interface List {
  readonly abstractId: string;
  /** The start values of levels that restart when this list is first used. */
  readonly starts: ReadonlyMap<number, number>;
  readonly levels: ReadonlyMap<number, Level>;
}

const numLevels = 9;

export function createNumbering(part: XmlElement | undefined, styles: Styles): Numbering {
  const lists = readLists(part, styles);
  const counters = new Map<string, Array<number | undefined>>();
  const used = new Set<string>();

  return {
    next: ({ id, level: wanted }) => {
      const list = lists.get(id);
      const at = Math.min(Math.max(wanted, 0), numLevels - 1);
      const level = list?.levels.get(at);
      if (list === undefined || level === undefined) return '-';
      const counts = counters.get(list.abstractId) ?? [];
      counters.set(list.abstractId, counts);
      if (!used.has(id)) {
        used.add(id);
        for (const [index, start] of list.starts) counts[index] = start - 1;
      }
      counts[at] = (counts[at] ?? level.start - 1) + 1;
      counts.length = at + 1;
      return label(list, counts, level);
    },
  };
}

function label(list: List, counts: ReadonlyArray<number | undefined>, level: Level): string {
  if (level.format === 'bullet') return '-';
  return level.text
    .replace(/%([1-9])/g, (_, digit: string) => {
      const index = Number(digit) - 1;
      const other = list.levels.get(index);
      const format = level.legal ? 'decimal' : (other?.format ?? 'decimal');
      const numeral = numeralOf(format, counts[index] ?? other?.start ?? 1);
      return format === 'custom' ? numeral.padStart(other?.digits ?? 1, '0') : numeral;
    })
    .trim();
}

function readLists(part: XmlElement | undefined, styles: Styles): Map<string, List> {
  const root = childOf(part, 'w:numbering');
  const definitions = new Map(
    childrenOf(root, 'w:abstractNum').map((element) => [element.attributes.abstractNumId ?? '', element]),
  );
  const instances = new Map(childrenOf(root, 'w:num').map((element) => [element.attributes.numId ?? '', element]));
  const lists = new Map<string, List>();
  for (const [id, instance] of instances) {
    const overrides = childrenOf(instance, 'w:lvlOverride');
    const abstractId = valOf(instance, 'w:abstractNumId') ?? '';
    const levels = readLevels(findDefinition(abstractId, { definitions, instances, styles }));
    const starts = new Map<number, number>();
    for (const override of overrides) {
      const index = Number(override.attributes.ilvl);
      const start = Number.parseInt(valOf(override, 'w:startOverride') ?? '', 10);
      if (!Number.isNaN(start)) starts.set(index, start);
      const replaced = childOf(override, 'w:lvl');
      if (replaced !== undefined) levels.set(index, readLevel(replaced));
    }
    lists.set(id, { abstractId, starts, levels });
  }
  return lists;
}

/** Finds a definition. It may refer to a style that refers to the actual list. */
function findDefinition(
  id: string,
  known: { definitions: ReadonlyMap<string, XmlElement>; instances: ReadonlyMap<string, XmlElement>; styles: Styles },
): XmlElement | undefined {
  const definition = known.definitions.get(id);
  const style = valOf(definition, 'w:numStyleLink');
  if (style === undefined) return definition;
  const instance = known.instances.get(known.styles.numberingOfStyle(style) ?? '');
  const other = known.definitions.get(valOf(instance, 'w:abstractNumId') ?? '');
  return childOf(other, 'w:numStyleLink') === undefined ? (other ?? definition) : definition;
}

function readLevels(definition: XmlElement | undefined): Map<number, Level> {
  return new Map(
    childrenOf(definition, 'w:lvl').map((element) => [Number(element.attributes.ilvl), readLevel(element)]),
  );
}

function readLevel(element: XmlElement): Level {
  const start = Number.parseInt(valOf(element, 'w:start') ?? '', 10);
  const holders = [element, ...alternativesOf(childOf(element, 'mc:AlternateContent'))];
  const format = holders.flatMap((holder) => childrenOf(holder, 'w:numFmt'))[0]?.attributes;
  return {
    start: Number.isNaN(start) ? 1 : start,
    format: format?.val ?? 'decimal',
    digits: /^0*[1-9](?=,)/.exec(format?.format ?? '')?.[0].length ?? 1,
    text: valOf(element, 'w:lvlText') ?? '',
    legal: isOn(element, 'w:isLgl'),
  };
}
