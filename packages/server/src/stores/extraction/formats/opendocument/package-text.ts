import { cut } from '../../cut-text.ts';
import { fileDamaged, fileEncrypted, fileTypeMismatch } from '../../extraction-error.ts';
import { describeCutParts } from '../cut-parts.ts';
import { childOf, childrenOf, elementsOf, findAll, parseXml, textOf, type XmlElement } from '../docx/xml-tree.ts';
import { type Archive, openArchive } from '../open-package.ts';

/** The parts of an OpenDocument file that a reader needs. */
export interface OpenDocument {
  /** `office:text`, `office:spreadsheet` or `office:presentation`. */
  readonly body: XmlElement;
  /** The elements that hold the styles, those of the text first. */
  readonly styles: readonly XmlElement[];
  readonly title: string | undefined;
  /** The warning about parts that end too early. */
  readonly warnings: readonly string[];
  /** Returns the root of an object that a frame shows, such as a formula; undefined when it is not in the file. */
  readObject(address: string | undefined): XmlElement | undefined;
}

const bodies = { odt: 'office:text', ods: 'office:spreadsheet', odp: 'office:presentation' } as const;
export type OpenDocumentFormat = keyof typeof bodies;

/**
 * Opens a file and parses its text and styles.
 * @throws ExtractionError when it is damaged, encrypted or of another kind
 */
export async function openDocument(bytes: Uint8Array, format: OpenDocumentFormat): Promise<OpenDocument> {
  const archive = await openArchive(bytes, 'OpenDocument');
  const manifest = parsePart(archive, 'META-INF/manifest.xml');
  if (manifest !== undefined && !elementsOf(manifest, 'encryption-data').next().done)
    throw fileEncrypted('OpenDocument');
  const content = childrenOf(parsePart(archive, 'content.xml'))[0];
  if (content === undefined) throw fileTypeMismatch('OpenDocument', 'another kind of zip file');
  const body = childrenOf(childOf(content, 'office:body'))[0];
  if (body === undefined) throw fileDamaged('OpenDocument', 'its text is missing');
  if (body.name !== bodies[format]) throw fileTypeMismatch('OpenDocument', `a document of another kind (${body.name})`);
  const styles = childrenOf(parsePart(archive, 'styles.xml'))[0];
  const [title] = findAll(parsePart(archive, 'meta.xml'), 'dc:title');
  return {
    body,
    styles: [childOf(content, 'office:automatic-styles'), styles].filter((each) => each !== undefined),
    warnings: describeCutParts(
      ['content.xml', 'styles.xml'].map((name) => [name, archive.read(name) ?? new Uint8Array(0)] as const),
    ),
    title: (title && cut(textOf(title).trim(), 500)) || undefined,
    readObject: (address) => {
      const name = (address ?? '').replace(/^\.\//, '').replace(/\/$/, '');
      return name === '' ? undefined : childrenOf(parsePart(archive, `${name}/content.xml`))[0];
    },
  };
}

function parsePart(archive: Archive, name: string): XmlElement | undefined {
  const part = archive.read(name);
  if (part === undefined) return undefined;
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
  // A declared entity is never expanded. Manifests of old versions have a document type without declarations.
  if (bytes.includes('<!ENTITY')) throw fileDamaged('OpenDocument', `${JSON.stringify(name)} declares an entity`);
  return parseXml(part);
}
