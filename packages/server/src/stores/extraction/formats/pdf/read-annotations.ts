import type { OpenPdf } from './open-pdf.ts';
import type { Segment } from './segment-draft.ts';
import { readShownValues, type ShownValue } from './shown-values.ts';
import { type Turn, turnedBox } from './turned-page.ts';

/** The text of form fields and notes, which PDFium does not count as text of the page. */
export interface AnnotationReader {
  /**
   * Reads the visible annotations of a page that is open.
   * @param index the number of the page, from 0
   * @param turn how the page is turned to be read
   */
  read(page: number, index: number, turn?: Turn): readonly Segment[];
  /** The numbers of what was read so far. */
  readonly counts: AnnotationCounts;
  /** Must be called before the document is closed. */
  close(): void;
}

export interface AnnotationCounts {
  /** Form fields with a value. */
  filled: number;
  notes: number;
  /** Characters that are not shown: of hidden annotations, outside of the page, and of layers that are off. */
  hidden: number;
}

/** The numbers of PDFium for annotations and form fields. */
const kinds = { link: 2, freeText: 3, popup: 16, widget: 20 } as const;
const fields = { pushButton: 1, checkBox: 2, radio: 3, comboBox: 4, listBox: 5, text: 6 } as const;
/** Fields whose appearance is their value. A list box shows all its options. */
const writtenFields = new Set<number>([fields.comboBox, fields.text]);
const boxes = new Set<number>([fields.checkBox, fields.radio]);
const hiddenFlags = 2 | 32;
const passwordFlag = 1 << 13;
const limits = { annotations: 10_000, options: 1_000, bytes: 2 ** 20 };
const formInfoBytes = 512;

interface AnnotationText {
  readonly segment: Segment;
  readonly box: ShownValue['box'];
  /** A field whose value the page shows in its own form, such as a number with its separators. */
  readonly isWritten: boolean;
}

export function createAnnotationReader(pdf: OpenPdf): AnnotationReader {
  const { pdfium, memory, document } = pdf;
  const info = pdfium.malloc(formInfoBytes);
  for (let at = 0; at < formInfoBytes; at += 1) memory().setUint8(info + at, 0);
  memory().setInt32(info, 1, true); // the version of the structure; without callbacks no script can run
  const form = pdfium.FPDFDOC_InitFormFillEnvironment(document, info);
  const counts = { filled: 0, notes: 0, hidden: 0 };
  const contentsKey = cString(pdf, 'Contents');
  const rectangle = pdfium.malloc(16);

  const readText = (write: WriteText) => readUtf16(pdf, write);

  function valueOfField(annotation: number): string {
    const type = pdfium.FPDFAnnot_GetFormFieldType(form, annotation);
    if (boxes.has(type)) return pdfium.FPDFAnnot_IsChecked(form, annotation) === 0 ? '[ ]' : '[x]';
    if (type === fields.text && (pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & passwordFlag) !== 0) return '';
    if (type === fields.comboBox || type === fields.listBox) {
      const options = selectedOptions(annotation);
      if (options !== '') return options;
    }
    if (type !== fields.text && type !== fields.comboBox && type !== fields.listBox) return '';
    return readText((buffer, length) => pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, length));
  }

  /** The value of a choice is its name in exports; the reader of the form sees its label. */
  function selectedOptions(annotation: number): string {
    const count = Math.min(pdfium.FPDFAnnot_GetOptionCount(form, annotation), limits.options);
    const labels: string[] = [];
    for (let at = 0; at < count; at += 1) {
      if (pdfium.FPDFAnnot_IsOptionSelected(form, annotation, at) === 0) continue;
      labels.push(readText((buffer, length) => pdfium.FPDFAnnot_GetOptionLabel(form, annotation, at, buffer, length)));
    }
    return labels.filter((label) => label !== '').join(', ');
  }

  function readOne(annotation: number, turn: Turn | undefined): AnnotationText | undefined {
    const kind = pdfium.FPDFAnnot_GetSubtype(annotation);
    // A pop-up window shows the text of the note that it belongs to.
    if (kind === kinds.link || kind === kinds.popup) return undefined;
    const isField = kind === kinds.widget;
    const contents = isField
      ? valueOfField(annotation)
      : readText((buffer, length) => pdfium.FPDFAnnot_GetStringValue(annotation, contentsKey, buffer, length));
    if (contents === '') return undefined;
    if ((pdfium.FPDFAnnot_GetFlags(annotation) & hiddenFlags) !== 0) {
      counts.hidden += contents.length;
      return undefined;
    }
    if (isField) counts.filled += contents === '[ ]' ? 0 : 1;
    else counts.notes += 1;
    const text = isField || kind === kinds.freeText ? contents : `[Note: ${contents}]`;
    const hasAppearance = isField && pdfium.FPDFAnnot_GetAP(annotation, 0, 0, 0) > 2;
    const isWritten = hasAppearance && writtenFields.has(pdfium.FPDFAnnot_GetFormFieldType(form, annotation));
    return { ...placed(annotation, text, turn), isWritten };
  }

  function placed(annotation: number, text: string, turn: Turn | undefined): Pick<AnnotationText, 'segment' | 'box'> {
    const isKnown = pdfium.FPDFAnnot_GetRect(annotation, rectangle) !== 0;
    const side = (index: number) => (isKnown ? memory().getFloat32(rectangle + 4 * index, true) : 0);
    const [y1, y2] = [side(1), side(3)];
    const own = { left: side(0), right: side(2), bottom: Math.min(y1, y2), top: Math.max(y1, y2) };
    const { left, right, bottom, top } = turn === undefined ? own : turnedBox(own, turn);
    const height = top - bottom;
    const size = Math.min(usualSize, Math.max(1, height * 0.7));
    // One line of text stands in the middle of its box.
    const y = height < 2.5 * size ? (top + bottom) / 2 - 0.35 * size : top - size;
    return {
      segment: { text, left, right: Math.max(left, right), y, size, bold: false, mono: false, hyphen: false },
      box: [own.left, own.top, own.right, own.bottom],
    };
  }

  return {
    counts,
    read: (page, index, turn) => {
      const found: AnnotationText[] = [];
      if (form !== 0) pdfium.FORM_OnAfterLoadPage(page, form);
      const count = Math.min(pdfium.FPDFPage_GetAnnotCount(page), limits.annotations);
      for (let at = 0; at < count; at += 1) {
        const annotation = pdfium.FPDFPage_GetAnnot(page, at);
        if (annotation === 0) continue;
        const text = readOne(annotation, turn);
        if (text !== undefined) found.push(text);
        pdfium.FPDFPage_CloseAnnot(annotation);
      }
      if (form !== 0) pdfium.FORM_OnBeforeClosePage(page, form);
      return withShownValues(pdf, index, found);
    },
    close: () => {
      if (form !== 0) pdfium.FPDFDOC_ExitFormFillEnvironment(form);
      for (const pointer of [info, contentsKey, rectangle]) pdfium.free(pointer);
    },
  };
}

/** Replaces the values of fields by what the page shows. */
function withShownValues(pdf: OpenPdf, index: number, found: readonly AnnotationText[]): Segment[] {
  const written = found.filter(({ isWritten }) => isWritten && !pdf.needAppearances);
  const values = written.map(({ segment: { text }, box }) => ({ text, box }));
  const shown = readShownValues(pdf, index, values);
  const texts = new Map(written.map(({ segment }, at) => [segment, shown[at]]));
  return found.map(({ segment }) => ({ ...segment, text: texts.get(segment) ?? segment.text }));
}

const isNear = (gap: number, other: number) => gap > -2 && gap < Math.min(mostToLabel, other);

const usualSize = 12;

function cString({ pdfium, memory }: OpenPdf, text: string): number {
  const pointer = pdfium.malloc(text.length + 1);
  for (const [at, byte] of Buffer.from(`${text}\0`).entries()) memory().setUint8(pointer + at, byte);
  return pointer;
}

/** Writes UTF-16 into a buffer and returns its number of bytes. */
type WriteText = (buffer: number, length: number) => number;

function readUtf16({ pdfium, memory }: OpenPdf, write: WriteText): string {
  const length = Math.min(write(0, 0), limits.bytes);
  if (length <= 2) return '';
  const buffer = pdfium.malloc(length);
  const written = Math.min(write(buffer, length), length);
  const text = Buffer.from(memory().buffer, buffer, Math.max(0, written - 2)).toString('utf16le');
  pdfium.free(buffer);
  return text.replaceAll('\0', '').replace(/\s+/g, ' ').trim();
}

/** A label is at most this far behind its check box, in points. */
const mostToLabel = 40;

/** Inserts each annotation after the text at the same height, otherwise before the first text below it. If a label is nearer, its check box precedes it. */
export function withAnnotations(segments: readonly Segment[], annotations: readonly Segment[]): readonly Segment[] {
  if (annotations.length === 0) return segments;
  const result = [...segments];
  for (const annotation of annotations) {
    const isLevel = ({ y, size }: Segment) => Math.abs(y - annotation.y) < 0.7 * Math.max(size, annotation.size);
    const beside = result.findLastIndex((each) => isLevel(each) && each.right <= annotation.left + 2);
    const toLabel = annotation.left - (result[beside]?.right ?? Number.NEGATIVE_INFINITY);
    const behind = /^\[[ x]\]$/.test(annotation.text)
      ? result.findIndex((each) => isLevel(each) && isNear(each.left - annotation.right, toLabel))
      : -1;
    const own = result[behind];
    if (own !== undefined) {
      result[behind] = { ...own, left: annotation.left, text: `${annotation.text} ${own.text}` };
      continue;
    }
    const below = result.findIndex(({ y }) => y < annotation.y - 0.5 * annotation.size);
    const at = beside !== -1 ? beside + 1 : below === -1 ? result.length : below;
    const label = result[beside];
    result.splice(at, 0, label === undefined ? annotation : { ...annotation, y: label.y });
  }
  return result;
}
