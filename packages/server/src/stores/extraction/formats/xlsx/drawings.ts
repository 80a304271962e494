import type { Drawings } from '../../qa/sheet.ts';
import { chartTitle } from '../docx/chart.ts';
import { readRelationships } from '../docx/package-parts.ts';
import { elementsOf, findAll, parseXml, textOf, type XmlElement } from '../docx/xml-tree.ts';

/** @param sheets the names of the parts of the sheets. Source: ECMA-376 part 1, 12.3 */
export function readDrawings(get: (name: string) => Uint8Array | undefined, sheets: readonly string[]): Drawings {
  const related = (part: string, kinds: RegExp) =>
    [...readRelationships(get, part).values()].flatMap(({ kind, target }) => {
      const bytes = kinds.test(kind) ? get(target ?? '') : undefined;
      return bytes === undefined ? [] : [{ name: target ?? '', root: parseXml(bytes) }];
    });
  const drawings = sheets.flatMap((sheet) => related(sheet, /^drawing$/));
  const texts = drawings.flatMap(({ name, root }) => [
    ...boxesOf(root),
    ...related(name, /^chart(?:Ex)?$/).map(({ root: chart }) => chartTitle(chart)),
  ]);
  const pictures = drawings.flatMap(({ name }) =>
    [...readRelationships(get, name).values()].filter(({ kind }) => kind === 'image'),
  );
  const comments = sheets.flatMap((sheet) => related(sheet, /^(?:comments|threadedComment)$/));
  return {
    texts: texts.filter((text) => text !== ''),
    pictures: pictures.length,
    commentCharacters: comments.reduce((sum, { root }) => sum + textOf(root).trim().length, 0),
  };
}

function boxesOf(drawing: XmlElement): string[] {
  return [...elementsOf(drawing, 'txBody')].map((box) =>
    [...findAll(box, 'a:p')]
      .map((paragraph) => [...findAll(paragraph, 'a:t')].map(textOf).join(''))
      .join('\n')
      .trim(),
  );
}
