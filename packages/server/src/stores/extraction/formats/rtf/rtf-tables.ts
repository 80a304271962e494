import iconv from 'iconv-lite';

/** The code pages of the character sets of fonts. Source: RTF specification 1.9.1, "Font Table". */
const codePages: Readonly<Record<number, number>> = {
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
  254: 437,
  255: 850,
};

/** The code page of a font; undefined when it is that of the document. */
export function codePageOf(charset: number | undefined): number | undefined {
  return charset === undefined ? undefined : codePages[charset];
}

/** Characters with a control word or symbol of their own. */
export const characters: Readonly<Record<string, string>> = {
  '~': '\u00a0',
  _: '\u2011',
  '-': '',
  '\\': '\\',
  '{': '{',
  '}': '}',
  tab: '\t',
  line: '\n',
  lbr: '\n',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
  softline: '\n',
  zwj: '\u200d',
  zwnj: '\u200c',
  ltrmark: '',
  rtlmark: '',
};

/** How the text of a group is used. */
export type Destination =
  | 'text'
  | 'skip'
  | 'fonts'
  | 'colors'
  | 'styles'
  | 'title'
  | 'label'
  | 'form'
  | 'option'
  | 'note'
  | 'box'
  | 'comment'
  | 'around';

/** Groups whose text is not that of the document. Unknown groups that begin with `\*` are skipped, too. */
export const destinations: Readonly<Record<string, Destination>> = {
  fonttbl: 'fonts',
  colortbl: 'colors',
  stylesheet: 'styles',
  title: 'title',
  footnote: 'note',
  shptxt: 'box',
  dptxbxtext: 'box',
  annotation: 'comment',
  formfield: 'form',
  ffl: 'option',
  listtext: 'label',
  pntext: 'label',
  ...Object.fromEntries(
    ['header', 'headerl', 'headerr', 'headerf', 'footer', 'footerl', 'footerr', 'footerf'].map(
      (word) => [word, 'around'] as const,
    ),
  ),
  ...Object.fromEntries(
    (
      'filetbl info pict nonshppict objdata objclass objname fldinst datafield sp shprslt xe tc rxe txe ' +
      'listtable listoverridetable revtbl rsidtbl generator themedata colorschememapping latentstyles datastore bkmkstart bkmkend ' +
      'atnid atnauthor atndate atnref atnicn ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn template pgdsctbl private pntxta pntxtb'
    )
      .split(' ')
      .map((word) => [word, 'skip'] as const),
  ),
};

/** Groups that begin with `\*` and whose text is that of the document. */
export const transparent: ReadonlySet<string> = new Set(['shpinst', 'shpgrp', 'do']);

/** Decodes bytes of a code page of Windows, or of the Macintosh. Unknown pages are read as 1252. */
export function decode(bytes: Uint8Array, page: number): string {
  const name = page === 10000 ? 'macroman' : page === 65001 ? 'utf8' : `cp${page}`;
  return iconv.decode(Buffer.from(bytes), iconv.encodingExists(name) ? name : 'cp1252');
}
