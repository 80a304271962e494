import { readFile } from 'node:fs/promises';
import { type PDFiumDocument, PDFiumLibrary } from '@hyzyla/pdfium';
import { fileDamaged, fileEmpty, fileTypeMismatch, passwordMissing, passwordWrong } from '../../extraction-error.ts';
import { createGlyphNames, type GlyphNames } from './glyph-names.ts';

/** What the bytes of a file tell about its layers (optional content). */
export interface Layers {
  /** The list of layers may be compressed, so this is not certain. */
  readonly mayBeOff: boolean;
  /** Whether a drawing that is used several times may belong to a layer. */
  readonly hasForms: boolean;
}

function findLayers(bytes: Uint8Array): Layers {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isListed = file.includes('/OCProperties');
  const mayBeOff = !isListed || hasKey(file, '/OFF', (next) => !/^\s*\[\s*\]/.test(next));
  return { mayBeOff, hasForms: mayBeOff && hasKey(file, '/OC', (next) => !/^[A-Za-z]/.test(next)) };
}

function hasKey(file: Buffer, key: string, isWanted: (next: string) => boolean): boolean {
  for (let at = file.indexOf(key); at !== -1; at = file.indexOf(key, at + key.length)) {
    if (isWanted(file.toString('latin1', at + key.length, at + key.length + 8))) return true;
  }
  return false;
}

/** The C interface of PDFium, as WebAssembly exports it. Handles are numbers; 0 is none. */
export interface Pdfium {
  malloc(bytes: number): number;
  free(pointer: number): void;
  FPDF_LoadPage(document: number, index: number): number;
  FPDF_ClosePage(page: number): void;
  FPDF_GetPageWidthF(page: number): number;
  FPDF_GetPageHeightF(page: number): number;
  FPDFPage_GetRotation(page: number): number;
  FPDFPage_SetRotation(page: number, quarters: number): void;
  FPDFText_LoadPage(page: number): number;
  FPDFText_ClosePage(text: number): void;
  FPDFText_CountChars(text: number): number;
  /** Receives the rectangle, the buffer and its length in code units, and returns the number of code units. */
  FPDFText_GetBoundedText(text: number, ...place: readonly number[]): number;
  FPDFText_GetUnicode(text: number, index: number): number;
  FPDFText_HasUnicodeMapError(text: number, index: number): number;
  FPDFText_GetFontSize(text: number, index: number): number;
  FPDFText_GetCharAngle(text: number, index: number): number;
  FPDFText_GetTextObject(text: number, index: number): number;
  FPDFText_GetMatrix(text: number, index: number, matrix: number): number;
  FPDFText_GetLooseCharBox(text: number, index: number, rectangle: number): number;
  FPDFText_GetCharOrigin(text: number, index: number, x: number, y: number): number;
  /** Receives the addresses of the four sides. */
  FPDFPage_GetMediaBox(page: number, ...sides: readonly number[]): number;
  FPDF_GetPageBoundingBox(page: number, rectangle: number): number;
  FPDFPageObj_CountMarks(object: number): number;
  FPDFPageObj_GetMark(object: number, index: number): number;
  FPDFPageObjMark_GetName(mark: number, buffer: number, bytes: number, length: number): number;
  /** Receives the addresses of the name, of the buffer, its length, and the address of the length of the value. */
  FPDFPageObjMark_GetParamStringValue(mark: number, ...places: readonly number[]): number;
  FPDFPageObj_SetFillColor(object: number, ...color: readonly number[]): number;
  /** Receives the addresses of red, green, blue and the opacity. */
  FPDFPageObj_GetFillColor(object: number, ...color: readonly number[]): number;
  FPDFPath_GetDrawMode(path: number, fillMode: number, isStroked: number): number;
  FPDFTextObj_GetTextRenderMode(object: number): number;
  FPDFTextObj_SetTextRenderMode(object: number, mode: number): number;
  FPDFTextObj_GetFontSize(object: number, size: number): number;
  FPDFPageObj_GetMatrix(object: number, matrix: number): number;
  FPDFTextObj_GetText(object: number, text: number, buffer: number, length: number): number;
  FPDFPageObj_TransformF(object: number, matrix: number): number;
  FPDFPageObj_Destroy(object: number): void;
  FPDFPage_RemoveObject(page: number, object: number): number;
  FPDFPage_CountObjects(page: number): number;
  FPDFPage_GetObject(page: number, index: number): number;
  FPDFPageObj_GetType(object: number): number;
  FPDFPageObj_GetBounds(object: number, left: number, bottom: number, right: number, top: number): number;
  FPDFFormObj_CountObjects(form: number): number;
  FPDFFormObj_GetObject(form: number, index: number): number;
  FPDFFormObj_RemoveObject(form: number, object: number): number;
  FPDFImageObj_GetImagePixelSize(image: number, width: number, height: number): number;
  FPDFBitmap_CreateEx(width: number, height: number, format: number, buffer: number, stride: number): number;
  FPDFBitmap_FillRect(bitmap: number, left: number, top: number, width: number, height: number, color: number): number;
  FPDFBitmap_GetBuffer(bitmap: number): number;
  FPDFBitmap_GetStride(bitmap: number): number;
  FPDFBitmap_Destroy(bitmap: number): void;
  /** Receives left, top, width, height, rotation and flags. */
  FPDF_RenderPageBitmap(bitmap: number, page: number, ...place: readonly number[]): void;
  /** Receives left, top, width, height, rotation, x and y, and the addresses of both results. */
  FPDF_PageToDevice(page: number, ...place: readonly number[]): number;
  FPDFTextObj_GetFont(object: number): number;
  FPDFFont_GetWeight(font: number): number;
  FPDFFont_GetBaseFontName(font: number, buffer: number, length: number): number;
  FPDF_GetMetaText(document: number, tag: number, buffer: number, length: number): number;
  FPDFDOC_InitFormFillEnvironment(document: number, info: number): number;
  FPDFDOC_ExitFormFillEnvironment(form: number): void;
  FORM_OnAfterLoadPage(page: number, form: number): void;
  FORM_OnBeforeClosePage(page: number, form: number): void;
  FPDF_GetXFAPacketCount(document: number): number;
  FPDFPage_Flatten(page: number, flag: number): number;
  FPDFPage_GetAnnotCount(page: number): number;
  FPDFPage_GetAnnot(page: number, index: number): number;
  FPDFPage_CloseAnnot(annotation: number): void;
  FPDFAnnot_GetSubtype(annotation: number): number;
  FPDFAnnot_GetFlags(annotation: number): number;
  FPDFAnnot_GetAP(annotation: number, mode: number, buffer: number, length: number): number;
  FPDFAnnot_GetRect(annotation: number, rectangle: number): number;
  FPDFAnnot_GetStringValue(annotation: number, key: number, buffer: number, length: number): number;
  FPDFAnnot_GetFormFieldType(form: number, annotation: number): number;
  FPDFAnnot_GetFormFieldFlags(form: number, annotation: number): number;
  FPDFAnnot_GetFormFieldValue(form: number, annotation: number, buffer: number, length: number): number;
  FPDFAnnot_IsChecked(form: number, annotation: number): number;
  FPDFAnnot_GetOptionCount(form: number, annotation: number): number;
  FPDFAnnot_IsOptionSelected(form: number, annotation: number, option: number): number;
  FPDFAnnot_GetOptionLabel(form: number, annotation: number, option: number, buffer: number, length: number): number;
  FPDFBookmark_GetFirstChild(document: number, bookmark: number): number;
  FPDFBookmark_GetNextSibling(document: number, bookmark: number): number;
  FPDFBookmark_GetTitle(bookmark: number, buffer: number, length: number): number;
  FPDFBookmark_GetDest(document: number, bookmark: number): number;
  FPDFBookmark_GetAction(bookmark: number): number;
  FPDFAction_GetDest(document: number, action: number): number;
  FPDFDest_GetDestPageIndex(document: number, destination: number): number;
  /** Receives the addresses of three flags and of x, y and the zoom. */
  FPDFDest_GetLocationInPage(destination: number, ...results: readonly number[]): number;
}

interface Memory {
  readonly memory: { readonly buffer: ArrayBuffer };
}

export interface OpenPdf {
  readonly pdfium: Pdfium;
  /** The memory of PDFium. Call this again after each PDFium call, because the memory moves when it grows. */
  memory(): DataView;
  readonly document: number;
  readonly layers: Layers;
  readonly glyphNames: GlyphNames;
  /** The file asks viewers to draw the values of its form fields themselves. */
  readonly needAppearances: boolean;
  readonly numPages: number;
  close(): void;
}

/** @throws ExtractionError when the bytes are not PDF, need another password or cannot be repaired. */
export async function openPdf(bytes: Uint8Array, password: string | null = null): Promise<OpenPdf> {
  if (bytes.length === 0) throw fileEmpty();
  // Each document gets a new WebAssembly instance, so that corrupted memory cannot affect the next document.
  const library = await startPdfium(await pdfiumCode());
  const document = await load(library, bytes, password);
  // The library does not export its low-level interface.
  const { wasmExports } = (library as unknown as { module: { wasmExports: Pdfium & Memory } }).module;
  const { documentIdx } = document as unknown as { documentIdx: number };
  const { memory } = wasmExports;
  let view = new DataView(memory.buffer);
  return {
    pdfium: wasmExports,
    memory: () => {
      // When the memory grows, its old buffer becomes empty.
      if (view.buffer.byteLength === 0) view = new DataView(memory.buffer);
      return view;
    },
    document: documentIdx,
    layers: findLayers(bytes),
    glyphNames: createGlyphNames(bytes),
    needAppearances: hasKey(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), '/NeedAppearances', (next) =>
      /^\s*true/.test(next),
    ),
    numPages: document.getPageCount(),
    close: () => {
      document.destroy();
      library.destroy();
    },
  };
}

/** TypeScript declares WebAssembly only in its DOM library. */
interface WebAssemblyCode {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Instance: new (code: object, imports: object) => { readonly exports: object };
}
const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyCode };
let compiled: Promise<object> | undefined;

/** The code is compiled once for all documents. */
function pdfiumCode(): Promise<object> {
  compiled ??= compile();
  return compiled;
}

async function startPdfium(code: object): Promise<PDFiumLibrary> {
  return PDFiumLibrary.init({
    instantiateWasm: (imports: object, onInstance: (instance: object) => void) => {
      const instance = new WebAssembly.Instance(code, imports);
      onInstance(instance);
      return instance.exports;
    },
  });
}

async function compile(): Promise<object> {
  return WebAssembly.compile(await readFile(new URL(import.meta.resolve('@hyzyla/pdfium/pdfium.wasm'))));
}

const titleBytes = 1024;

/** Returns the title of the document; undefined when it has none. */
export function readTitle({ pdfium, memory, document }: OpenPdf): string | undefined {
  const buffer = pdfium.malloc(titleBytes + 8);
  const tag = buffer + titleBytes;
  for (const [at, byte] of Buffer.from('Title\0').entries()) memory().setUint8(tag + at, byte);
  const length = pdfium.FPDF_GetMetaText(document, tag, buffer, titleBytes);
  const fits = length > 2 && length <= titleBytes;
  const title = fits
    ? Buffer.from(memory().buffer, buffer, length - 2)
        .toString('utf16le')
        .trim()
    : '';
  pdfium.free(buffer);
  return title === '' ? undefined : title;
}

async function load(library: PDFiumLibrary, bytes: Uint8Array, password: string | null): Promise<PDFiumDocument> {
  for (const each of spellingsOf(password)) {
    const document = await tryPassword(library, bytes, each);
    if (document !== undefined) return document;
  }
  throw password === null ? passwordMissing('PDF') : passwordWrong('PDF');
}

/**
 * Returns what may open the file: the password, the same prepared as revision 6 requires (RFC 4013, without its refusals), and none,
 * because one password may be sent for many files.
 */
function spellingsOf(password: string | null): ReadonlySet<string | undefined> {
  if (password === null) return new Set([undefined]);
  const prepared = password.replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, '').normalize('NFKC');
  return new Set([password, prepared, undefined]);
}

/** Returns undefined when the password is wrong. */
async function tryPassword(
  library: PDFiumLibrary,
  bytes: Uint8Array,
  password: string | undefined,
): Promise<PDFiumDocument | undefined> {
  try {
    return await library.loadDocument(bytes, password);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : '';
    if (/password|security/i.test(message)) return undefined;
    if (!Buffer.from(bytes.subarray(0, 1024)).includes('%PDF')) throw fileTypeMismatch('PDF', 'no PDF');
    throw fileDamaged('PDF', 'its structure is broken', cause);
  }
}
