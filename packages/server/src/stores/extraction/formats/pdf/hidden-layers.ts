import { drawSmall, paint } from './drawn-page.ts';
import type { OpenPdf } from './open-pdf.ts';

/** Finds text of layers (optional content) that are switched off. */
export interface LayerReader {
  /** The text objects of an open page that are not shown. The colours of its text are not those of the file afterwards. */
  hiddenObjects(page: number): ReadonlySet<number>;
}

const types = { text: 1, form: 5 } as const;
/** Modes that fill the letters. Other text has no colour that could be changed. */
const filled = new Set([0, 2, 4, 6]);
const limits = { depth: 5, objects: 50_000, drawings: 200, name: 512 };
/** Stands before the address of an object, which another object may have on the next page. */
const addressMark = '#';

/**
 * PDFium does not tell whether a layer is shown, but it draws only those that are. So the text of each layer is drawn in two colours: if both
 * pictures are the same, it is not shown.
 */
export function createLayerReader(pdf: OpenPdf): LayerReader {
  if (!pdf.layers.mayBeOff) return { hiddenObjects: () => new Set() };
  const layerOf = createLayerNames(pdf);
  /** Whether the layers of a name are shown, for all pages. */
  const known = new Map<string, boolean>();
  let drawings = 0;

  function learn(page: number, groups: ReadonlyMap<string, readonly number[]>): void {
    const unknown = [...groups].filter(([layer]) => !known.has(layer));
    if (unknown.length === 0 || drawings >= limits.drawings) return;
    for (const objects of groups.values()) paint(pdf, objects, { shade: 0 });
    const black = drawSmall(pdf, page);
    for (const [layer, objects] of unknown.slice(0, limits.drawings - drawings)) {
      drawings += 1;
      paint(pdf, objects, { shade: 255 });
      known.set(layer, !drawSmall(pdf, page).equals(black));
      paint(pdf, objects, { shade: 0 });
    }
  }

  return {
    hiddenObjects: (page) => {
      const hidden = new Set<number>();
      const groups = findTexts(pdf, page, layerOf);
      learn(page, groups);
      for (const [layer, objects] of groups) {
        if (known.get(layer) === false) for (const object of objects) hidden.add(object);
        if (layer.includes(addressMark)) known.delete(layer);
      }
      return hidden;
    },
  };
}

/** Returns the names of the layers of an object; empty when it belongs to none. */
type LayerOf = (object: number) => string;

function createLayerNames({ pdfium, memory }: OpenPdf): LayerOf {
  const buffer = pdfium.malloc(limits.name + 16);
  const [size, key] = [buffer + limits.name, buffer + limits.name + 8];
  for (const [at, byte] of Buffer.from('Name\0').entries()) memory().setUint8(key + at, byte);

  function readString(isFound: number): string | undefined {
    const length = Math.min(memory().getUint32(size, true), limits.name);
    if (isFound === 0 || length < 2) return undefined;
    return Buffer.from(memory().buffer, buffer, length - 2).toString('utf16le');
  }

  return (object) => {
    let found = '';
    const count = Math.min(pdfium.FPDFPageObj_CountMarks(object), limits.depth);
    for (let at = 0; at < count; at += 1) {
      const mark = pdfium.FPDFPageObj_GetMark(object, at);
      if (readString(pdfium.FPDFPageObjMark_GetName(mark, buffer, limits.name, size)) !== 'OC') continue;
      const name = readString(pdfium.FPDFPageObjMark_GetParamStringValue(mark, key, buffer, limits.name, size));
      found += name === undefined ? `${addressMark}${mark}` : `/${name.replaceAll(addressMark, '')}`;
    }
    return found;
  };
}

/** Finds the text objects of a page that belong to layers. */
function findTexts({ pdfium, layers }: OpenPdf, page: number, layerOf: LayerOf): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  let left = limits.objects;

  function take(object: number, around: string, depth: number): void {
    const type = pdfium.FPDFPageObj_GetType(object);
    left -= 1;
    if ((type !== types.text && type !== types.form) || left < 0 || depth > limits.depth) return;
    const layer = around + layerOf(object);
    if (type === types.form) {
      const inside = layers.hasForms ? `${layer}${addressMark}${object}` : layer;
      const count = Math.min(pdfium.FPDFFormObj_CountObjects(object), left);
      for (let at = 0; at < count; at += 1) take(pdfium.FPDFFormObj_GetObject(object, at), inside, depth + 1);
    } else if (layer !== '' && filled.has(pdfium.FPDFTextObj_GetTextRenderMode(object))) {
      const group = groups.get(layer);
      if (group === undefined) groups.set(layer, [object]);
      else group.push(object);
    }
  }

  const count = Math.min(pdfium.FPDFPage_CountObjects(page), limits.objects);
  for (let at = 0; at < count; at += 1) take(pdfium.FPDFPage_GetObject(page, at), '', 0);
  return groups;
}
